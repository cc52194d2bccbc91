import type { DefinitionProblems } from '../model/definition-problems.js';
import type { DraftNode, ProcessDraft } from '../draft/draft.js';
import { Values } from '../draft/values.js';

/** Ranks after every priority: events without priority, events that catch every error, other events. */
const WITHOUT_PRIORITY = 1e12;
const EVERY_ERROR = 1e13;
const NO_ERROR_EVENT = 1e14;

/**
 * Checks boundary events (BPMN 2.0.2, 10.5.4) and sorts those of each activity as errors try them: events that name an error first
 * (BPMN 2.0.2, 10.5.6), then by priority, lowest first and none last, then in file order (docs/process-semantics.md, section 10).
 */
export function checkBoundaries(draft: ProcessDraft, problems: DefinitionProblems): void {
  const priorities = new Map<DraftNode, number>();
  for (const node of draft.nodes.filter(({ kind }) => kind === 'BOUNDARY_EVENT')) {
    priorities.set(node, checkBoundary(node, problems));
  }
  for (const node of draft.nodes) {
    node.boundaries.sort(
      (a, b) => (priorities.get(a) ?? 0) - (priorities.get(b) ?? 0) || a.position - b.position,
    );
    warnOfTies(node.boundaries, priorities, problems);
  }
}

/** Checks a boundary event. Returns its rank among those of its activity. */
function checkBoundary(node: DraftNode, problems: DefinitionProblems): number {
  const values = new Values(node.element, problems);
  if (node.attachedTo !== null && node.attachedTo.scope !== node.scope) {
    values.error('INVALID_BOUNDARY', 'A boundary event must be in the same subprocess as its activity.');
  }
  return node.event?.type === 'ERROR' ? rankOfError(node, values) : rankOfOther(values);
}

function rankOfError(node: DraftNode, values: Values): number {
  if (node.element.cancelActivity === false) {
    values.error(
      'INVALID_BOUNDARY',
      'An error event always ends its activity, so cancelActivity="false" is not possible.',
    );
  }
  const catchesAll = node.event?.type === 'ERROR' && node.event.code === null;
  return (values.number('priority') ?? WITHOUT_PRIORITY) + (catchesAll ? EVERY_ERROR : 0);
}

function rankOfOther(values: Values): number {
  if (values.text('priority') !== null || values.text('condition') !== null) {
    values.error('INVALID_BOUNDARY', 'Only error events can have svc:priority and svc:condition.');
  }
  return NO_ERROR_EVENT;
}

function warnOfTies(
  boundaries: readonly DraftNode[],
  priorities: ReadonlyMap<DraftNode, number>,
  problems: DefinitionProblems,
): void {
  boundaries.forEach((node, index) => {
    const rival = boundaries.slice(0, index).find((other) => isTie(node, other, priorities));
    if (rival !== undefined) {
      const message = `"${rival.key}" and "${node.key}" catch the same error with the same svc:priority; the first one in the file is tried first.`;
      problems.warning('SAME_PRIORITY', node.element, message);
    }
  });
}

function isTie(a: DraftNode, b: DraftNode, priorities: ReadonlyMap<DraftNode, number>): boolean {
  if (a.event?.type !== 'ERROR' || b.event?.type !== 'ERROR' || priorities.get(a) !== priorities.get(b)) {
    return false;
  }
  return a.event.code === b.event.code;
}
