import type { DefinitionProblems } from '../model/definition-problems.js';
import { kindOf, type BpmnElement } from '../model/bpmn-element.js';
import { mayLeadOn, type DraftNode, type ProcessDraft } from '../draft/draft.js';

/** Context of the checks of one process. */
export interface CheckContext {
  problems: DefinitionProblems;
  /** Whether every element of the file is executed; otherwise flows may end where they should not. */
  complete: boolean;
}

/**
 * Checks each level of a process: the process itself, or an embedded subprocess. It must have a start and an end, with every
 * node between them (BPMN 2.0.2, 10.5.2, 10.5.3 and 13.2).
 */
export function checkLevels(draft: ProcessDraft, { problems, complete }: CheckContext): void {
  const levels = nodesByScope(draft);
  levels.forEach((nodes, scope) => {
    checkStarts(nodes, scope?.element ?? draft.element, problems);
    checkEnds(nodes, scope?.element ?? draft.element, problems);
    nodes.forEach((node) => checkFlows(node, problems));
  });
  if (complete) {
    draft.nodes.forEach((node) => checkConnected(node, draft, problems));
  }
  if (complete && draft.loose.size === 0) {
    checkReachable(draft, levels, problems);
  }
}

function nodesByScope({ nodes }: ProcessDraft): Map<DraftNode | null, DraftNode[]> {
  const levels = new Map<DraftNode | null, DraftNode[]>([[null, []]]);
  nodes.filter(({ kind }) => kind === 'SUB_PROCESS').forEach((node) => levels.set(node, []));
  nodes.forEach((node) => levels.get(node.scope)?.push(node));
  return levels;
}

function checkStarts(
  nodes: readonly DraftNode[],
  container: BpmnElement,
  problems: DefinitionProblems,
): void {
  const starts = nodes.filter(({ kind }) => kind === 'START_EVENT');
  const what = kindOf(container);
  if (starts.length === 0) {
    problems.error('MISSING_START', container, `A ${what} needs a start event.`);
  }
  if (what === 'process') {
    checkStartConditions(starts, problems);
    return;
  }
  if (starts.length > 1) {
    problems.error('MULTIPLE_STARTS', container, 'An embedded subprocess can have only one start event.');
  }
  for (const start of starts.filter(({ event }) => event?.type !== 'NONE')) {
    const message = 'The start event of an embedded subprocess must be a none event.';
    problems.error('INVALID_START', start.element, message);
  }
}

/** `startCondition` selects the start event if there are several (docs/process-semantics.md, section 2). */
function checkStartConditions(starts: readonly DraftNode[], problems: DefinitionProblems): void {
  const seen = new Set<unknown>();
  const plain = starts.filter(({ event }) => event?.type === 'NONE');
  for (const { element, key } of plain.length > 1 ? plain : []) {
    const condition = element.startCondition;
    if (condition === undefined || condition === '' || seen.has(condition)) {
      const message = `Each of several start events needs a unique svc:startCondition; "${key}" has none, or the same as another.`;
      problems.error('START_CONDITION', element, message);
    }
    seen.add(condition);
  }
}

function checkEnds(nodes: readonly DraftNode[], container: BpmnElement, problems: DefinitionProblems): void {
  if (!nodes.some(({ kind }) => kind === 'END_EVENT')) {
    const message = `A ${kindOf(container)} with a start event needs an end event.`;
    problems.error('MISSING_END', container, message);
  }
}

function checkFlows(node: DraftNode, problems: DefinitionProblems): void {
  const name = `${kindOf(node.element)} "${node.key}"`;
  if (!isEntered(node) && node.incoming.length > 0) {
    problems.error('INVALID_INCOMING', node.element, `${name} can have no incoming sequence flow.`);
  }
  if (node.kind === 'END_EVENT' && node.outgoing.length > 0) {
    problems.error('INVALID_OUTGOING', node.element, `${name} can have no outgoing sequence flow.`);
  }
}

function isEntered({ kind }: DraftNode): boolean {
  return kind !== 'START_EVENT' && kind !== 'BOUNDARY_EVENT';
}

/** Checks that a node has the flows it needs, unless an unconnected flow might be the missing one. */
function checkConnected(node: DraftNode, draft: ProcessDraft, problems: DefinitionProblems): void {
  const name = `${kindOf(node.element)} "${node.key}"`;
  if (isEntered(node) && node.incoming.length === 0 && draft.loose.size === 0) {
    problems.error('MISSING_INCOMING', node.element, `${name} needs an incoming sequence flow.`);
  }
  if (node.kind !== 'END_EVENT' && node.outgoing.length === 0 && !mayLeadOn(node, draft)) {
    const message = `${name} needs an outgoing sequence flow, if only to an end event.`;
    problems.error('MISSING_OUTGOING', node.element, message);
  }
}

function checkReachable(
  draft: ProcessDraft,
  levels: ReadonlyMap<DraftNode | null, readonly DraftNode[]>,
  problems: DefinitionProblems,
): void {
  const startsOf = (scope: DraftNode | null): DraftNode[] =>
    (levels.get(scope) ?? []).filter(({ kind }) => kind === 'START_EVENT');
  const seen = new Set<DraftNode>();
  const open = startsOf(null);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!seen.has(node)) {
      seen.add(node);
      const inside = node.kind === 'SUB_PROCESS' ? startsOf(node) : [];
      open.push(...node.outgoing.map(({ target }) => target), ...node.boundaries, ...inside);
    }
  }
  for (const node of draft.nodes.filter((one) => !seen.has(one))) {
    const message = `${kindOf(node.element)} "${node.key}" cannot be reached from a start event.`;
    problems.error('UNREACHABLE', node.element, message);
  }
}
