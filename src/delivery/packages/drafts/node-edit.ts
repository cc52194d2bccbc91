import { v7 as uuid } from 'uuid';
import { isJsonObject, type JsonObject } from '#engine/json';
import { nameKey } from '../../../platform/validation/resource-name.js';
import { SequenceNotFoundError } from '../model/packages.errors.js';

/** Members of a node that the service sets. */
const STAMPS = ['workflowResourceId', 'createdDate', 'modifiedDate', 'createdBy', 'modifiedBy'];

/** Nodes in a package document, of which only the shape is known. */
type Nodes = readonly JsonObject[];

/** A change of one node. */
export type NodeChange =
  | { kind: 'add'; node: JsonObject; onSequence: string | undefined }
  | { kind: 'replace'; node: JsonObject }
  | { kind: 'remove'; nodeId: string };

/** A change of one node of a workflow. */
export type NodeEdit = { workflow: string } & NodeChange;

/**
 * Applies an edit to a node in a package document, which must contain the workflow.
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

/** Replaces the node with the same id. */
function replaced(nodes: Nodes, node: JsonObject): Nodes {
  return nodes.map((other) => (other['id'] === node['id'] ? withoutStamps(node) : other));
}

/**
 * Adds a node. With `onSequence` it is inserted into that sequence: the sequence then leads to the node, and the node to the former target,
 * unless it is an END or has its own sequences.
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
  const hasTarget = own['type'] === 'END' || sequencesOf(own).length > 0;
  const onward = { id: uuid(), sourceNodeId: own['id'], targetNodeId: target };
  const placed = hasTarget ? own : { ...own, outgoingSequences: [onward] };
  const redirectedSource = redirected(source, ({ id }) => id === onSequence, { from: target, to: own['id'] });
  return [...nodes.map((other) => (other === source ? redirectedSource : other)), placed];
}

/** Removes a node. If it leads to exactly one other node, sequences to it are redirected there. */
function removed(nodes: Nodes, id: string): Nodes {
  const node = nodes.find((other) => other['id'] === id);
  const targets = node === undefined ? [] : sequencesOf(node).map((sequence) => sequence['targetNodeId']);
  const rest = nodes.filter((other) => other !== node);
  const leadsHere = ({ targetNodeId }: JsonObject): boolean => targetNodeId === id;
  return rest.map((other) =>
    targets.length === 1 && sequencesOf(other).some(leadsHere)
      ? redirected(other, leadsHere, { from: id, to: targets[0] })
      : other,
  );
}

/**
 * Redirects sequences of a node from one target to another, and its conditions too unless another sequence still leads to the old target.
 */
function redirected(
  node: JsonObject,
  isRedirected: (sequence: JsonObject) => boolean,
  { from, to }: { from: unknown; to: unknown },
): JsonObject {
  const sequences = sequencesOf(node);
  const conditions = objects(node['conditions']);
  const redirectsAll = sequences.every(
    (sequence) => sequence['targetNodeId'] !== from || isRedirected(sequence),
  );
  return {
    ...node,
    outgoingSequences: sequences.map((sequence) =>
      isRedirected(sequence) ? { ...sequence, targetNodeId: to } : sequence,
    ),
    ...(redirectsAll && conditions.length > 0
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
