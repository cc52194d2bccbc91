import { v7 as uuid } from 'uuid';
import { isJsonObject, type JsonObject } from '#engine/json';
import { nameKey } from '../../../platform/validation/resource-name.js';
import { SequenceNotFoundError } from '../model/packages.errors.js';

/** Members of a node that the service writes. */
const STAMPS = ['workflowResourceId', 'createdDate', 'modifiedDate', 'createdBy', 'modifiedBy'];

/** Nodes of a workflow of a package document, of which only the shape is known. */
type Nodes = readonly JsonObject[];

/** A change of one node. */
export type NodeChange =
  | { kind: 'add'; node: JsonObject; onSequence: string | undefined }
  | { kind: 'replace'; node: JsonObject }
  | { kind: 'remove'; nodeId: string };

/** A change of one node of a workflow. */
export type NodeEdit = { workflow: string } & NodeChange;

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
  const led = ledOver(source, ({ id }) => id === onSequence, { from: target, to: own['id'] });
  return [...nodes.map((other) => (other === source ? led : other)), placed];
}

/** The others, those that led to the node leading to where it led itself; it must lead to one node for that. */
function removed(nodes: Nodes, id: string): Nodes {
  const gone = nodes.find((node) => node['id'] === id);
  const targets = gone === undefined ? [] : sequencesOf(gone).map((sequence) => sequence['targetNodeId']);
  const rest = nodes.filter((node) => node !== gone);
  const leadsHere = ({ targetNodeId }: JsonObject): boolean => targetNodeId === id;
  return rest.map((node) =>
    targets.length === 1 && sequencesOf(node).some(leadsHere)
      ? ledOver(node, leadsHere, { from: id, to: targets[0] })
      : node,
  );
}

/**
 * A node of which some sequences that lead to one node lead to another. Its conditions go along unless another sequence leads to the old
 * target.
 */
function ledOver(
  node: JsonObject,
  isLed: (sequence: JsonObject) => boolean,
  { from, to }: { from: unknown; to: unknown },
): JsonObject {
  const sequences = sequencesOf(node);
  const conditions = objects(node['conditions']);
  const isWhole = sequences.every((sequence) => sequence['targetNodeId'] !== from || isLed(sequence));
  return {
    ...node,
    outgoingSequences: sequences.map((sequence) =>
      isLed(sequence) ? { ...sequence, targetNodeId: to } : sequence,
    ),
    ...(isWhole && conditions.length > 0
      ? {
          conditions: conditions.map((condition) =>
            condition['nextNodeId'] === from ? { ...condition, nextNodeId: to } : condition,
          ),
        }
      : {}),
  };
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
