import type { DraftNode } from '../draft/draft.js';
import { nameOf, type DefinitionProblems } from '../model/definition-problems.js';
import { OUR_WORK } from './implementation.checks.js';

/** The warning for a task without actions, by its kind. Kinds that are not here wait, send or call. */
const IDLE: Readonly<Record<string, string>> = {
  task: `has no actions: give it ${OUR_WORK}, or make it a userTask where a person works`,
  serviceTask: `has no actions: give it ${OUR_WORK}`,
  sendTask: 'names no message and has no actions: give it messageRef, or svc:actions',
  manualTask: 'is work outside that nobody confirms: where the process shall wait for it, make it a userTask',
};

/** Warns of a task at which nothing happens. One that was refused for what it should run or send is not told twice. */
export function warnOfNothing(
  { element, key, event }: DraftNode,
  kind: string,
  problems: DefinitionProblems,
): void {
  const why = Object.hasOwn(IDLE, kind) ? IDLE[kind] : undefined;
  const isRefused = problems.has('UNSUPPORTED_ELEMENT', element) || problems.hasWrongReference(element);
  if (why !== undefined && event === null && !isRefused) {
    const message = `${nameOf(kind, key)} ${why}. As it is, the token passes at once.`;
    problems.warning('TASK_DOES_NOTHING', element, message);
  }
}
