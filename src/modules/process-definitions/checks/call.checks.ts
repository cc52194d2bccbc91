import type { Problems } from '../problems.js';
import type { CallTarget, GraphNode, ProcessGraph } from '../process-graph.types.js';

/**
 * Checks call activities that call a process of their own file: it must have a start event that a call can use (BPMN 2.0.2,
 * 10.5.2). What stands in other files is checked where all files are known.
 */
export function checkCalls(definitions: readonly ProcessGraph[], problems: Problems): void {
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  for (const { key, call } of definitions.flatMap(({ nodes }) => nodes)) {
    const called = call === null || call.appId !== null ? undefined : byName.get(call.process);
    if (call !== null && called !== undefined && !startsOf(called).some((start) => fits(start, call))) {
      const message = `"${call.process}" has no none start event that this call activity could start at.`;
      problems.error('CALLED_PROCESS_HAS_NO_START', key, message);
    }
  }
}

function startsOf({ nodes, starts }: ProcessGraph): GraphNode[] {
  return starts.flatMap((index) => nodes[index] ?? []).filter(({ event }) => event?.type === 'NONE');
}

function fits({ startCondition }: GraphNode, call: CallTarget): boolean {
  return call.startCondition === null || call.startCondition === startCondition;
}
