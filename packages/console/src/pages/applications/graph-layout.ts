import type { WorkflowNode } from '../../../../client/src/index.js';

/** Width of a node in pixels. */
export const NODE_WIDTH = 168;
/** Height of a node in pixels. */
export const NODE_HEIGHT = 56;
const GAP_X = 72;
const GAP_Y = 36;
const MARGIN = 16;
/** Minimum horizontal distance of the control points of a curve, in pixels. */
const MIN_BEND = 24;

/** Node with its position. */
export interface PlacedNode {
  node: WorkflowNode;
  x: number;
  y: number;
}

/** Sequence with its line. */
export interface PlacedSequence {
  id: string;
  /** SVG path data. */
  line: string;
  /** Condition of the sequence. */
  label: string;
  labelX: number;
  labelY: number;
}

/** Drawing of a workflow. */
export interface Drawing {
  nodes: PlacedNode[];
  sequences: PlacedSequence[];
  width: number;
  height: number;
}

/** Draws a workflow in the layout of its author, or from left to right if the author's nodes overlap. */
export function drawingOf(nodes: readonly WorkflowNode[], defaultLabel: string): Drawing {
  const laidOut = nodes.map((node) => ({ node, x: node.layoutOptions.x, y: node.layoutOptions.y }));
  const placed = toOrigin(hasOverlap(laidOut) ? layered(nodes) : laidOut);
  const byId = new Map(placed.map((one) => [one.node.id, one]));
  const sequences = placed.flatMap((from) =>
    from.node.outgoingSequences.flatMap(({ id, targetNodeId }) => {
      const to = byId.get(targetNodeId);
      return to === undefined ? [] : [sequenceOf(id, from, to, defaultLabel)];
    }),
  );
  return {
    nodes: placed,
    sequences,
    width: Math.max(0, ...placed.map(({ x }) => x + NODE_WIDTH)) + MARGIN,
    height: Math.max(0, ...placed.map(({ y }) => y + NODE_HEIGHT)) + MARGIN,
  };
}

/** Sorts by x, so that large workflows are not compared pair by pair. */
function hasOverlap(placed: readonly PlacedNode[]): boolean {
  const sorted = placed.toSorted((one, other) => one.x - other.x);
  return sorted.some((one, index) => {
    for (let at = index + 1; at < sorted.length; at += 1) {
      const other = sorted[at];
      if (other === undefined || other.x - one.x >= NODE_WIDTH) {
        return false;
      }
      if (Math.abs(other.y - one.y) < NODE_HEIGHT) {
        return true;
      }
    }
    return false;
  });
}

/** Places nodes by layer from left to right. */
function layered(nodes: readonly WorkflowNode[]): PlacedNode[] {
  const layers = layersOf(nodes);
  const rows = new Map<number, number>();
  return nodes.map((node) => {
    const layer = layers.get(node.id) ?? 0;
    const row = rows.get(layer) ?? 0;
    rows.set(layer, row + 1);
    return { node, x: layer * (NODE_WIDTH + GAP_X), y: row * (NODE_HEIGHT + GAP_Y) };
  });
}

/** Computes the shortest distance of each node from the start. */
function layersOf(nodes: readonly WorkflowNode[]): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const layers = new Map<string, number>();
  let here = nodes.filter(({ type }) => type === 'START').map(({ id }) => id);
  for (let layer = 0; here.length > 0; layer += 1) {
    here.forEach((id) => layers.set(id, layer));
    const next = here.flatMap(
      (id) => byId.get(id)?.outgoingSequences.map(({ targetNodeId }) => targetNodeId) ?? [],
    );
    here = [...new Set(next)].filter((id) => !layers.has(id) && byId.has(id));
  }
  return layers;
}

function toOrigin(placed: readonly PlacedNode[]): PlacedNode[] {
  const left = Math.min(...placed.map(({ x }) => x));
  const top = Math.min(...placed.map(({ y }) => y));
  return placed.map(({ node, x, y }) => ({ node, x: x - left + MARGIN, y: y - top + MARGIN }));
}

function sequenceOf(id: string, from: PlacedNode, to: PlacedNode, defaultLabel: string): PlacedSequence {
  const startX = from.x + NODE_WIDTH;
  const startY = from.y + NODE_HEIGHT / 2;
  const endX = to.x;
  const endY = to.y + NODE_HEIGHT / 2;
  const bend = Math.max(MIN_BEND, Math.abs(endX - startX) / 2);
  return {
    id,
    line: `M${startX} ${startY} C${startX + bend} ${startY} ${endX - bend} ${endY} ${endX} ${endY}`,
    label: labelOf(from.node, to.node.id, defaultLabel),
    labelX: (startX + endX) / 2,
    labelY: (startY + endY) / 2,
  };
}

function labelOf({ conditions }: WorkflowNode, targetId: string, defaultLabel: string): string {
  return conditions
    .filter(({ nextNodeId }) => nextNodeId === targetId)
    .map(({ isDefault, expression }) => (isDefault ? defaultLabel : (expression ?? '')))
    .join(' | ');
}
