import { canonicalJson } from '../../../platform/json/canonical-json.js';
import type { UserReference } from '../../../platform/user/user-reference.js';
import { nameKey } from '../../../platform/validation/resource-name.js';
import type { PackageWorkflow, WorkflowNode } from '../model/package.types.js';

/** Creation and last change of a node; dates are ISO 8601. */
export interface NodeStamps {
  createdDate: string;
  modifiedDate: string;
  createdBy: UserReference;
  modifiedBy: UserReference;
}

/** A checked node of a draft, with resolved references. Dates and users in a package are ignored. */
export type DraftNode = Omit<WorkflowNode, keyof NodeStamps | 'workflowResourceId'> & NodeStamps;

/** A checked workflow of a draft. */
export type DraftWorkflow = Omit<PackageWorkflow, 'nodes'> & { nodes: DraftNode[] };

/** Time and author of a change, and the state before it. */
export interface DraftChange {
  at: Date;
  by: UserReference;
  /** Characters of the stored JSON of DraftWorkflow[], packed by packText(); null if nothing is stored. */
  before: Uint8Array | null;
}

/**
 * Sets dates and users in the workflows of a package that is being stored: unchanged nodes keep theirs, others get new ones. Nodes are
 * matched by id and name of the workflow.
 * @param before the stored workflows of the version
 */
export function withStamps(
  workflows: readonly PackageWorkflow[],
  before: readonly DraftWorkflow[],
  change: Pick<DraftChange, 'at' | 'by'>,
): DraftWorkflow[] {
  const known = new Map(
    before.flatMap(({ name, nodes }) => nodes.map((node) => [keyOf(name, node.id), node] as const)),
  );
  return workflows.map((workflow) => ({
    ...workflow,
    nodes: workflow.nodes.map((node) =>
      withNodeStamps(node, known.get(keyOf(workflow.name, node.id)), change),
    ),
  }));
}

function withNodeStamps(
  node: WorkflowNode,
  before: DraftNode | undefined,
  { at, by }: Pick<DraftChange, 'at' | 'by'>,
): DraftNode {
  // Omit members without a value, as the stored JSON does.
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

/** Returns a node as the API shows it: missing texts are empty (docs/contract.md, section 5), so sending it back is no change. */
function shownOf({ inputBody, responseKey, ...rest }: ReturnType<typeof contentOf>): object {
  return { ...rest, inputBody: inputBody ?? '', responseKey: responseKey ?? '' };
}

/** Joins both by a space, which neither names nor ids contain. */
function keyOf(workflow: string, nodeId: string): string {
  return `${nameKey(workflow)} ${nodeId}`;
}
