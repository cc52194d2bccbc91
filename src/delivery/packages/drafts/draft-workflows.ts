import { canonicalJson } from '../../../platform/json/canonical-json.js';
import type { UserReference } from '../../../platform/user/user-reference.js';
import { nameKey } from '../../../platform/validation/resource-name.js';
import type { PackageWorkflow, WorkflowNode } from '../model/package.types.js';

/** Who made a node and who changed it last; dates are ISO 8601. */
export interface NodeStamps {
  createdDate: string;
  modifiedDate: string;
  createdBy: UserReference;
  modifiedBy: UserReference;
}

/** A checked node of a draft, its references resolved. What a package says of dates and users is not believed. */
export type DraftNode = Omit<WorkflowNode, keyof NodeStamps | 'workflowResourceId'> & NodeStamps;

/** A checked workflow of a draft. */
export type DraftWorkflow = Omit<PackageWorkflow, 'nodes'> & { nodes: DraftNode[] };

/** When, by whom, and after what. */
export interface DraftChange {
  at: Date;
  by: UserReference;
  /** JSON of DraftWorkflow[], packed by packText(), the characters: what is stored for the version so far; null for nothing. */
  before: Uint8Array | null;
}

/**
 * The workflows of a package that is being stored: nodes that are as they were keep dates and users, others are changed now.
 * A node is the same by its id and the name of its workflow.
 * @param before what is stored for the version so far
 */
export function stamped(
  workflows: readonly PackageWorkflow[],
  before: readonly DraftWorkflow[],
  change: Pick<DraftChange, 'at' | 'by'>,
): DraftWorkflow[] {
  const known = new Map(
    before.flatMap(({ name, nodes }) => nodes.map((node) => [keyOf(name, node.id), node] as const)),
  );
  return workflows.map((workflow) => ({
    ...workflow,
    nodes: workflow.nodes.map((node) => stampedNode(node, known.get(keyOf(workflow.name, node.id)), change)),
  }));
}

function stampedNode(
  node: WorkflowNode,
  before: DraftNode | undefined,
  { at, by }: Pick<DraftChange, 'at' | 'by'>,
): DraftNode {
  // As it will be read: members without a value are left out.
  const content = JSON.parse(JSON.stringify(contentOf(node))) as ReturnType<typeof contentOf>;
  const now = { modifiedDate: at.toISOString(), modifiedBy: by };
  if (before === undefined) {
    return { ...content, ...now, createdDate: now.modifiedDate, createdBy: by };
  }
  const { createdDate, createdBy, modifiedDate, modifiedBy } = before;
  const isSame = canonicalJson(shownOf(content)) === canonicalJson(shownOf(contentOf(before)));
  return { ...content, createdDate, createdBy, ...(isSame ? { modifiedDate, modifiedBy } : now) };
}

function contentOf(node: WorkflowNode | DraftNode): Omit<DraftNode, keyof NodeStamps> {
  const {
    workflowResourceId: _workflow,
    createdDate: _created,
    modifiedDate: _modified,
    createdBy: _creator,
    modifiedBy: _modifier,
    ...content
  } = node as WorkflowNode;
  return content;
}

/** As readers see it, who may send it back as it is: texts that are not there are empty (docs/contract.md, section 5). */
function shownOf({ inputBody, responseKey, ...rest }: ReturnType<typeof contentOf>): object {
  return { ...rest, inputBody: inputBody ?? '', responseKey: responseKey ?? '' };
}

/** Neither names nor ids hold spaces. */
function keyOf(workflow: string, nodeId: string): string {
  return `${nameKey(workflow)} ${nodeId}`;
}
