import type { DefinitionProblems } from '../model/definition-problems.js';
import type { CallTarget, ProcessGraph } from '../model/process-graph.types.js';

/**
 * Checks call activities that call a process of their own file: it must have a start event that a call can use (BPMN 2.0.2,
 * 10.5.2). What stands in other files is checked where all files are known.
 */
export function checkCalls(definitions: readonly ProcessGraph[], problems: DefinitionProblems): void {
  const starts = new Map(definitions.map((definition) => [definition.name, startsOf(definition)]));
  for (const { key, call } of definitions.flatMap(({ nodes }) => nodes)) {
    const called = call === null || call.appId !== null ? undefined : starts.get(call.process);
    if (call !== null && called !== undefined && !fits(called, call)) {
      const message = `"${call.process}" has no none start event that this call activity could start at.`;
      problems.error('CALLED_PROCESS_HAS_NO_START', key, message);
    }
  }
}

/** Conditions of the none start events, null for one without. */
function startsOf({ nodes, starts }: ProcessGraph): ReadonlySet<string | null> {
  const events = starts.flatMap((index) => nodes[index] ?? []).filter(({ event }) => event?.type === 'NONE');
  return new Set(events.map(({ startCondition }) => startCondition));
}

function fits(starts: ReadonlySet<string | null>, { startCondition }: CallTarget): boolean {
  return startCondition === null ? starts.size > 0 : starts.has(startCondition);
}
