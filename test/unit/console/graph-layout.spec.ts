import { describe, expect, it } from 'vitest';
import type { WorkflowNode } from '../../../packages/client/src/index.js';
import { drawingOf, NODE_WIDTH } from '../../../packages/console/src/pages/applications/graph-layout.js';

const node = (
  id: string,
  [x, y]: readonly [number, number],
  targets: readonly string[] = [],
  rest: Partial<WorkflowNode> = {},
): WorkflowNode =>
  ({
    id,
    name: id,
    type: id === 'start' ? 'START' : 'DATA_MAPPING',
    layoutOptions: { x, y },
    conditions: [],
    outgoingSequences: targets.map((targetNodeId) => ({
      id: `${id}-${targetNodeId}`,
      sourceNodeId: id,
      targetNodeId,
    })),
    ...rest,
  }) as unknown as WorkflowNode;
const xs = (nodes: WorkflowNode[]) => drawingOf(nodes, 'otherwise').nodes.map(({ x }) => x);

describe('drawingOf', () => {
  it('keeps the positions that the author has chosen, relative to the top left corner', () => {
    expect(xs([node('start', [-100, 0], ['end']), node('end', [200, 0])])).toEqual([16, 316]);
  });

  it('arranges overlapping nodes from left to right, even in cycles', () => {
    const [first, second, third] = xs([
      node('start', [0, 0], ['a']),
      node('a', [0, 0], ['b']),
      node('b', [0, 0], ['a', 'gone']),
    ]);
    expect(second).toBeGreaterThan((first ?? 0) + NODE_WIDTH);
    expect(third).toBeGreaterThan((second ?? 0) + NODE_WIDTH);
  });

  it('labels sequences with their conditions', () => {
    const conditions = [
      { id: '1', expression: 'x > 1', nextNodeId: 'a', order: 1, isDefault: false },
      { id: '2', expression: null, nextNodeId: 'b', order: 2, isDefault: true },
    ];
    const { sequences } = drawingOf(
      [node('start', [0, 0], ['a', 'b'], { conditions }), node('a', [300, 0]), node('b', [300, 200])],
      'otherwise',
    );
    expect(sequences.map(({ label }) => label)).toEqual(['x > 1', 'otherwise']);
  });
});
