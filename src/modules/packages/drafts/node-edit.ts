import { v7 as uuid } from 'uuid';
import { isJsonObject, type JsonObject } from '../../../common/json.js';
import { nameKey } from '../../../common/validation/resource-name.js';
import { SequenceNotFoundError } from '../model/packages.errors.js';

/** Members of a node that the service writes. */
const STAMPS = ['workflowResourceId', 'createdDate', 'modifiedDate', 'createdBy', 'modifiedBy'];

/** Nodes of a workflow of a package document, of which only the shape is known. */
type Nodes = readonly JsonObject[];

/** A change of one node of a workflow. */
export type NodeEdit = { workflow: string } & (
  | { kind: 'add'; node: JsonObject; onSequence: string | undefined }
  | { kind: 'replace'; node: JsonObject }
  | { kind: 'remove'; nodeId: string }
);

/**
 * A package document in which one node is another. The workflow must be in it.
 * @throws SequenceNotFoundError
 */
export function editedDocument(document: JsonObject, edit: NodeEdit): JsonObject {
  const workflows = objects(document['workflows']).map((entry) =>
    nameKey(String(entry['name'])) === nameKey(edit.workflow)
      ? { ...entry, nodes: editedNodes(objects(entry['nodes']), edit) }
      : entry,
  );
  return { ...document, workflows };
}

function editedNodes(nodes: Nodes, edit: NodeEdit): Nodes {
  switch (edit.kind) {
    case 'add':
      return added(nodes, edit.node, edit.onSequence);
    case 'replace':
      return replaced(nodes, edit.node);
    default:
      return removed(nodes, edit.nodeId);
  }
}

/** The node in the place of the one with its id. */
function replaced(nodes: Nodes, node: JsonObject): Nodes {
  return nodes.map((other) => (other['id'] === node['id'] ? withoutStamps(node) : other));
}

/**
 * The node added to the others. On a sequence the node comes between both ends: the sequence leads to the node, and the node to
 * the old target of the sequence. An END, and a node with sequences of its own, do not lead there.
 * @throws SequenceNotFoundError
 */
function added(nodes: Nodes, node: JsonObject, onSequence: string | undefined): Nodes {
  const own = withoutStamps(node);
  if (onSequence === undefined) {
    return [...nodes, own];
  }
  const source = nodes.find((other) => sequencesOf(other).some(({ id }) => id === onSequence));
  const target = source && sequencesOf(source).find(({ id }) => id === onSequence)?.['targetNodeId'];
  if (source === undefined || target === undefined) {
    throw new SequenceNotFoundError();
  }
  const leads = own['type'] === 'END' || sequencesOf(own).length > 0;
  const onward = { id: uuid(), sourceNodeId: own['id'], targetNodeId: target };
  const placed = leads ? own : { ...own, outgoingSequences: [onward] };
  const led = ledOver(source, onSequence, { from: target, to: own['id'] });
  return [...nodes.map((other) => (other === source ? led : other)), placed];
}

/** The others, those that led to the node leading to where it led itself; it must lead to one node for that. */
function removed(nodes: Nodes, id: string): Nodes {
  const gone = nodes.find((node) => node['id'] === id);
  const targets = gone === undefined ? [] : sequencesOf(gone).map((sequence) => sequence['targetNodeId']);
  const rest = nodes.filter((node) => node !== gone);
  return targets.length === 1 ? rest.map((node) => redirected(node, id, targets[0])) : rest;
}

/** A node whose sequences and conditions to one node lead to another one. */
function redirected(node: JsonObject, from: unknown, to: unknown): JsonObject {
  const led = sequencesOf(node).some(({ targetNodeId }) => targetNodeId === from);
  return led
    ? {
        ...node,
        outgoingSequences: sequencesOf(node).map((sequence) =>
          sequence['targetNodeId'] === from ? { ...sequence, targetNodeId: to } : sequence,
        ),
        ...conditionsTo(node, from, to),
      }
    : node;
}

/** A node of which one sequence leads elsewhere. Its conditions go along unless another sequence leads to the old target. */
function ledOver(
  node: JsonObject,
  sequenceId: string,
  { from, to }: { from: unknown; to: unknown },
): JsonObject {
  const sequences = sequencesOf(node);
  const isOnly = sequences.filter(({ targetNodeId }) => targetNodeId === from).length === 1;
  return {
    ...node,
    outgoingSequences: sequences.map((sequence) =>
      sequence['id'] === sequenceId ? { ...sequence, targetNodeId: to } : sequence,
    ),
    ...(isOnly ? conditionsTo(node, from, to) : {}),
  };
}

function conditionsTo(node: JsonObject, from: unknown, to: unknown): JsonObject {
  const conditions = objects(node['conditions']);
  const led = conditions.map((condition) =>
    condition['nextNodeId'] === from ? { ...condition, nextNodeId: to } : condition,
  );
  return conditions.length === 0 ? {} : { conditions: led };
}

function sequencesOf(node: JsonObject): JsonObject[] {
  return objects(node['outgoingSequences']);
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function withoutStamps(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([name]) => !STAMPS.includes(name)));
}
