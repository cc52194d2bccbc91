import type { Page } from '../../../platform/validation/page.js';
import type { UserReference } from '../../../platform/user/user-reference.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import type { DiscoveredTool } from '../../mcp-connection/model/connection-test.types.js';
import type { SystemKey } from '../../model/system.types.js';

/** Names a tool by its place in the interface: both ids of the system must be of the same system. */
export interface ToolKey extends SystemKey {
  systemId: string;
  toolId: string;
}

/** A workflow node that may use the tools of a system. */
export interface ToolUse extends AppVersionKey {
  /** Null for the node as it stands in the version itself. */
  buildId: string | null;
  workflow: string;
  nodeId: string;
  nodeName: string;
}

/** A system of a version whose tools nodes may use. */
export interface UsedSystem extends AppVersionKey {
  resourceDefinitionId: string;
}

/** Finds the nodes that use a system, of applications that somebody may see. */
export type ToolUseFinder = (system: UsedSystem, maySee: (appId: string) => boolean) => Promise<ToolUse[]>;

/** What a server says about a tool and a model is shown. */
export type ToolDefinition = DiscoveredTool;

/** A definition with its fingerprint, see definitionHash(). */
export type HashedDefinition = ToolDefinition & { definitionHash: string };

/** One difference: a JSON Pointer (RFC 6901) into the definition, and both values as JSON text, null for absent. */
export interface FieldChange {
  path: string;
  before: string | null;
  after: string | null;
}

/** A tool whose definition is not the one that was stored. */
export interface ChangedTool {
  name: string;
  changes: FieldChange[];
}

/** Whether a tool may be called, and who said so. */
export interface Decided {
  enabled: boolean;
  /** Null where no person decided, but the synchronisation by its rules. */
  decidedBy: UserReference | null;
  /** Null for what was decided before decisions were kept. */
  decidedAt: Date | null;
}

/** Names a definition of a tool among those of a resource definition. */
export interface DefinedName {
  name: string;
  definitionHash: string;
}

/** A decision about a tool as it is defined, which holds in all versions of an application that are still to come. */
export interface ToolDecision extends Decided, DefinedName {}

/** A tool that came with a decision which another version, or an earlier system, had about this very definition. */
export interface TakenOverTool extends Decided {
  name: string;
}

/** What a synchronisation did, by tool names. */
export interface SyncReport {
  added: string[];
  changed: string[];
  removed: string[];
  returned: string[];
  /** Tools that are disabled now until an admin has looked at them. */
  disabledForReview: string[];
  /** Tools of `added` whose flag was decided before. */
  takenOver: TakenOverTool[];
}

/** Which tools are disabled until reviewed: new and changed ones, also all or some of the first list, or none. */
export type ToolChangePolicy = 'review-changes' | 'review-writes' | 'review' | 'accept';

/** A tool after it was switched, and how it was before. */
export interface SwitchedTool {
  id: string;
  name: string;
  enabled: boolean;
  wasEnabled: boolean;
  /** Entity tag of the system as it is then; null where nobody asked by `If-Match`. */
  tag: string | null;
  /** Nodes with agents that refer to the system of the tool, in the version and in builds. */
  affectedNodes: ToolUse[];
}

/** A definition of a tool, and what was decided about it. */
export type DecidedDefinition = HashedDefinition & Decided;

/** A tool about whose present definition no person has decided. */
export interface WaitingTool extends DecidedDefinition {
  id: string;
  createdAt: Date;
  /** As it was when something was last decided about it; null where that is not known, or never was. */
  before: DecidedDefinition | null;
}

/** Tools that wait for a decision, with the entity tag of their system: whoever decides says by it what he has seen. */
export interface ToolReviewPage extends Page<WaitingTool> {
  systemTag: string;
}

/** What is known of a tool at this moment, besides its definition. */
export interface ToolState {
  id: string;
  name: string;
  enabled: boolean;
  /** False while the server's list lacks it. */
  present: boolean;
  definitionHash: string;
}

/** A tool with its definition. */
export type DefinedTool = ToolState & Pick<ToolDefinition, 'description' | 'inputSchema' | 'annotations'>;
