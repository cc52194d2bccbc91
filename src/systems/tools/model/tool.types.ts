import type { Page } from '../../../platform/validation/page.js';
import type { UserReference } from '../../../platform/user/user-reference.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import type { DiscoveredTool } from '../../mcp-connection/model/connection-test.types.js';
import type { SystemKey } from '../../model/system.types.js';

/** Key of a tool in API paths. Both ids of the system must belong to the same system. */
export interface ToolKey extends SystemKey {
  systemId: string;
  toolId: string;
}

/** A workflow node that may use the tools of a system. */
export interface ToolUse extends AppVersionKey {
  /** Null for the node in the version itself. */
  buildId: string | null;
  workflow: string;
  nodeId: string;
  nodeName: string;
}

/** A system of a version whose tools are used by nodes. */
export interface UsedSystem extends AppVersionKey {
  resourceDefinitionId: string;
}

/** Finds the nodes that use a system, in applications that the caller may see. */
export type ToolUseFinder = (system: UsedSystem, maySee: (appId: string) => boolean) => Promise<ToolUse[]>;

/** Description of a tool by its server, as shown to models. */
export type ToolDefinition = DiscoveredTool;

/** A definition with its hash, see `definitionHash`. */
export type HashedDefinition = ToolDefinition & { definitionHash: string };

/** One difference: a JSON Pointer (RFC 6901) into the definition, and both values as JSON text, null for absent. */
export interface FieldChange {
  path: string;
  before: string | null;
  after: string | null;
}

/** A tool whose definition differs from the stored one. */
export interface ChangedTool {
  name: string;
  changes: FieldChange[];
}

/** Whether a tool may be called, and who decided that. */
export interface Decided {
  enabled: boolean;
  /** Null when the rules of the synchronisation decided and not a person. */
  decidedBy: UserReference | null;
  /** Null for decisions made before times were recorded. */
  decidedAt: Date | null;
}

/** Key of a tool definition within a resource definition. */
export interface DefinedName {
  name: string;
  definitionHash: string;
}

/** A decision about one definition of a tool, inherited by future versions of the application. */
export interface ToolDecision extends Decided, DefinedName {}

/** A new tool that inherited the decision of another version or an earlier system about the same definition. */
export interface TakenOverTool extends Decided {
  name: string;
}

/** Changes of a synchronisation, as tool names. */
export interface SyncReport {
  added: string[];
  changed: string[];
  removed: string[];
  returned: string[];
  /** Tools that are disabled until an admin reviews them. */
  disabledForReview: string[];
  /** Tools of `added` that inherited a decision. */
  takenOver: TakenOverTool[];
}

/**
 * Which tools are disabled until they are reviewed: `review-changes` new and changed ones, `review-writes` also tools of the first list
 * that are not read-only, `review` also the whole first list, `accept` none.
 */
export type ToolChangePolicy = 'review-changes' | 'review-writes' | 'review' | 'accept';

/** A tool after it was enabled or disabled, with its previous flag. */
export interface SwitchedTool {
  id: string;
  name: string;
  enabled: boolean;
  wasEnabled: boolean;
  /** New entity tag of the system; null when the request had no `If-Match`. */
  tag: string | null;
  /** Agent nodes that refer to the system of the tool, in the version and in builds. */
  affectedNodes: ToolUse[];
}

/** A tool definition with the decision about it. */
export type DecidedDefinition = HashedDefinition & Decided;

/** A tool whose current definition was not reviewed by a person. */
export interface WaitingTool extends DecidedDefinition {
  id: string;
  createdAt: Date;
  /** Definition and decision of the last review; null when unknown or never reviewed. */
  before: DecidedDefinition | null;
}

/** Tools that await a decision, with the entity tag of their system, by which a decision names the state that it is about. */
export interface ToolReviewPage extends Page<WaitingTool> {
  systemTag: string;
}

/** Current state of a tool without its definition. */
export interface ToolState {
  id: string;
  name: string;
  enabled: boolean;
  /** False while the server does not list the tool. */
  present: boolean;
  definitionHash: string;
}

/** A tool with its definition. */
export type DefinedTool = ToolState & Pick<ToolDefinition, 'description' | 'inputSchema' | 'annotations'>;
