import type { GraphLane } from '../model/process-graph.types.js';
import { nameOf, type DefinitionProblems } from '../model/definition-problems.js';
import { childOf, childrenOf, idOf, textOf, type BpmnElement } from '../model/bpmn-element.js';
import type { DraftNode, ProcessDraft } from '../draft/draft.js';

interface FoundLane extends GraphLane {
  element: BpmnElement;
  level: number;
}

/**
 * Reads the lanes of a process and puts its nodes into them (docs/process-semantics.md, section 12). A node belongs to the
 * innermost lane that lists it. The nodes in a subprocess belong to the lane of the subprocess.
 */
export function readLanes(draft: ProcessDraft, problems: DefinitionProblems): GraphLane[] {
  const found: FoundLane[] = [];
  childrenOf(draft.element, 'laneSets').forEach((set) => collect(set, { level: 0, execute: [] }, found));
  for (const lane of found.filter(({ key }) => key === '')) {
    problems.error('MISSING_ID', lane.element, 'Each lane needs an id.');
  }
  const lanes = found.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const nodes = new Map(draft.nodes.map((node) => [node.element, node]));
  lanes.forEach((lane, index) => {
    for (const element of childrenOf(lane.element, 'flowNodeRef')) {
      const node = nodes.get(element);
      if (node === undefined) {
        const message = `${nameOf('lane', lane.key)} lists something that is not a node of its process.`;
        problems.error('INVALID_LANE', lane.element, message);
      } else {
        place(node, index, lanes, problems);
      }
    }
  });
  draft.nodes.forEach((node) => (node.lane ??= inherited(node)));
  return lanes.map(({ key, name, execute }) => ({ key, name, execute }));
}

function collect(set: BpmnElement, outer: { level: number; execute: string[] }, found: FoundLane[]): void {
  for (const element of childrenOf(set, 'lanes')) {
    const own = (textOf(element, 'execute') ?? '').split(',').map((name) => name.trim());
    const named = own.filter((name) => name !== '');
    const execute = named.length > 0 ? named : outer.execute;
    const level = outer.level + 1;
    found.push({ element, level, execute, key: idOf(element) ?? '', name: textOf(element, 'name') ?? null });
    const inner = childOf(element, 'childLaneSet');
    if (inner !== undefined && level < 20) {
      collect(inner, { level, execute }, found);
    }
  }
}

function place(
  node: DraftNode,
  index: number,
  lanes: readonly FoundLane[],
  problems: DefinitionProblems,
): void {
  const before = node.lane === null ? undefined : lanes[node.lane];
  const here = lanes[index];
  if (before === undefined || here === undefined) {
    node.lane = index;
  } else if (before !== here && before.level === here.level) {
    const message = `"${node.key}" is in two lanes, "${before.key}" and "${here.key}".`;
    problems.error('INVALID_LANE', node.element, message);
  } else if (here.level > before.level) {
    node.lane = index;
  }
}

function inherited(node: DraftNode): number | null {
  return node.attachedTo?.lane ?? node.scope?.lane ?? null;
}
