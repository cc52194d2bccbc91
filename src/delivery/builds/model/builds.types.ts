import type { PageQuery } from '../../../platform/validation/page.js';
import type { UserReference } from '../../../platform/user/user-reference.js';
import type { TimeRange } from '../../../store/tables/conditions.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import type { AuditAction } from '../../../audit/model/audit.types.js';
import type { NodeEdit } from '../../packages/drafts/node-edit.js';
import type { PackageProblem, PackageWorkflow } from '../../packages/model/package.types.js';
import type { ProcessGraph } from '#engine/definitions';
import type { BuildLibraryDto, BuildResourceDto } from './package.dto.js';
import type { AgentWorkflow } from './workflow-text.js';

/** Statuses of a build (docs/process-semantics.md, section 1): there are no builds of drafts. */
export enum BuildStatus {
  Committed = 'COMMITTED',
  /** Nothing of it is started any more. */
  Withdrawn = 'WITHDRAWN',
}

/** What becomes of running instances of a build that is withdrawn. */
export enum RunningInstances {
  Continue = 'CONTINUE',
  Hold = 'HOLD',
  Terminate = 'TERMINATE',
}

/** That a build is withdrawn. */
export interface Withdrawal {
  appId: string;
  buildId: string;
  running: RunningInstances;
  /** User name of who withdraws it. */
  actor: string;
  at: Date;
}

/** A process definition in a build, as it runs. One object for as long as it is cached, and never changed. */
export interface BuildDefinition {
  readonly id: number;
  readonly appId: string;
  readonly buildId: string;
  readonly buildStatus: BuildStatus;
  /** A build stands by itself: what a called process reports besides comes from its caller. */
  readonly parentApplicationId: null;
  readonly rootApplicationId: string;
  readonly name: string;
  readonly svcUuid: string;
  /** Nodes have their ids. */
  readonly graph: ProcessGraph;
  /** Characters of the graph as JSON. */
  readonly graphLength: number;
  /** Of the graph as JSON: `textHash`. */
  readonly hash: string;
}

/** Names a definition by its place in the interface. */
export interface DefinitionKey {
  appId: string;
  buildId: string;
  processName: string;
}

/** Which processes of a build to list: by name, behind `after`. */
export interface DefinitionsQuery extends Omit<DefinitionKey, 'processName'> {
  after?: string | undefined;
}

/** A workflow in a build: as it was delivered, its references to systems and workflows completed by definition ids. */
export type StoredWorkflow = PackageWorkflow & { resourceId: string; resourceDefinitionId: string };

/** A build of another application that a package names as a library. */
export type NamedLibrary = AppVersionKey & { buildId: string };

/** A library that a package does not name, but only libraries that it names. */
export interface IndirectLibrary extends NamedLibrary {
  /** Applications of the libraries that bring it, of those that the package names. */
  through: string[];
}

/** A build that is a library, and its workflows that have an agent, by name. */
export interface LibraryAgents extends NamedLibrary {
  workflows: AgentWorkflow[];
}

/** What is told of a build in a list. */
export interface BuildSummary extends AppVersionKey {
  buildId: string;
  status: BuildStatus;
  checksum: string;
  createdAt: Date;
  createdBy: UserReference;
}

/** What a build holds. */
export interface BuildManifest extends BuildSummary {
  resources: BuildResourceDto[];
  libraries: BuildLibraryDto[];
}

/** A build that was just made, and what its maker should know of it. */
export interface MadeBuild extends BuildManifest {
  warnings: PackageProblem[];
}

/** Which builds of an application, and how many of them in a page. */
export interface BuildQuery extends PageQuery, TimeRange {
  appId: string;
}

/** What became of an activation. */
export interface Activation {
  buildId: string;
  /** The build that was active before; null when there was none. */
  previousBuildId: string | null;
  activatedAt: Date;
}

/** A build at the moment of its activation, with its own process definitions, not those of libraries. */
export interface ActivatedBuild extends Activation {
  definitions: BuildDefinition[];
}

/** The package of a version, as it was delivered. */
export interface PackageText {
  /** UTF-8. */
  json: Buffer;
  /** SHA-256 of its canonical JSON (RFC 8785). */
  checksum: string;
}

/** A change of a node, and the checksum of the package that was looked at for it. */
export interface PackageEdit {
  edit: NodeEdit;
  edited: string;
  event: { action: AuditAction; details: Record<string, unknown> };
}
