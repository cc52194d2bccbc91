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

/** Status of a build (docs/process-semantics.md, section 1). Drafts have no builds. */
export enum BuildStatus {
  Committed = 'COMMITTED',
  /** Can no longer be started. */
  Withdrawn = 'WITHDRAWN',
}

/** How to treat the running instances of a build that is withdrawn. */
export enum RunningInstances {
  Continue = 'CONTINUE',
  Hold = 'HOLD',
  Terminate = 'TERMINATE',
}

/** The withdrawal of a build. */
export interface Withdrawal {
  appId: string;
  buildId: string;
  running: RunningInstances;
  /** Name of the user who withdraws it. */
  actor: string;
  at: Date;
}

/** A process definition in a build, as it runs. The object is immutable, and stays the same while it is cached. */
export interface BuildDefinition {
  readonly id: number;
  readonly appId: string;
  readonly buildId: string;
  readonly buildStatus: BuildStatus;
  /** Always null for a build; the parent of a called process comes from its caller. */
  readonly parentApplicationId: null;
  readonly rootApplicationId: string;
  readonly name: string;
  readonly svcUuid: string;
  /** The graph, with ids of nodes. */
  readonly graph: ProcessGraph;
  /** Length of the graph as JSON, in characters. */
  readonly graphLength: number;
  /** `textHash` of the graph as JSON. */
  readonly hash: string;
}

/** Identifies a definition in the API. */
export interface DefinitionKey {
  appId: string;
  buildId: string;
  processName: string;
}

/** Which processes of a build to list: by name, starting after `after`. */
export interface DefinitionsQuery extends Omit<DefinitionKey, 'processName'> {
  after?: string | undefined;
}

/** A workflow in a build: as it was delivered, with definition ids added to its references to systems and workflows. */
export type StoredWorkflow = PackageWorkflow & { resourceId: string; resourceDefinitionId: string };

/** A build of another application that a package names as a library. */
export type NamedLibrary = AppVersionKey & { buildId: string };

/** A library that a package does not name itself, but libraries that it names use. */
export interface IndirectLibrary extends NamedLibrary {
  /** Applications of the named libraries that use it. */
  through: string[];
}

/** A build that is a library, with its workflows that have an agent, by name. */
export interface LibraryAgents extends NamedLibrary {
  workflows: AgentWorkflow[];
}

/** Facts about a build for lists. */
export interface BuildSummary extends AppVersionKey {
  buildId: string;
  status: BuildStatus;
  checksum: string;
  createdAt: Date;
  createdBy: UserReference;
}

/** Contents of a build. */
export interface BuildManifest extends BuildSummary {
  resources: BuildResourceDto[];
  libraries: BuildLibraryDto[];
}

/** A new build, with warnings for its maker. */
export interface MadeBuild extends BuildManifest {
  warnings: PackageProblem[];
}

/** Which builds of an application to list. */
export interface BuildQuery extends PageQuery, TimeRange {
  appId: string;
}

/** Result of an activation. */
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

/** A change of a node, and the checksum of the package to which it applies. */
export interface PackageEdit {
  edit: NodeEdit;
  edited: string;
  event: { action: AuditAction; details: Record<string, unknown> };
}
