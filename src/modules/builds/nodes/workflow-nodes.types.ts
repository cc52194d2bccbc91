import type { JsonObject } from '../../../common/json.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { DraftNode } from '../../packages/drafts/draft-workflows.js';

/** Names a workflow by its place in the interface; the name without regard to case. */
export interface WorkflowKey extends AppVersionKey {
  workflow: string;
}

/** Names a node by its place in the interface. */
export interface NodeKey extends WorkflowKey {
  nodeId: string;
}

/** What a list tells of a workflow of a version. */
export interface WorkflowSummary {
  name: string;
  description: string;
  resourceId: string;
  resourceDefinitionId: string;
  nodeCount: number;
}

/** A workflow of a version, its references completed by definition ids. */
export interface ShownWorkflow extends WorkflowSummary {
  inputSchema: JsonObject | null;
  outputSchema: JsonObject | null;
  nodes: DraftNode[];
}

/** A node of a workflow of a version, with the entity tag of its state. */
export interface ShownNode {
  node: DraftNode;
  workflowResourceId: string;
  /** Entity tag (RFC 9110, section 8.8.3), quotes included. */
  etag: string;
}
