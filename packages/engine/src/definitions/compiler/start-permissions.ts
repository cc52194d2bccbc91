import type { DraftNode, ProcessDraft } from '../draft/draft.js';
import { Values } from '../draft/values.js';
import { textOf } from '../model/bpmn-element.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import type { GraphNode } from '../model/process-graph.types.js';

/**
 * Reads `svc:start`: permissions, one of which a request needs to start a process. A start event overrides its process. It has no
 * effect where no request starts, since messages and timers need no permission.
 * @returns permissions by start event
 */
export function readStartPermissions(
  { element, nodes }: ProcessDraft,
  problems: DefinitionProblems,
): ReadonlyMap<DraftNode, Pick<GraphNode, 'startPermissions'>> {
  const ofProcess = permissionsOf(new Values(element, problems));
  const starts = nodes.filter(({ kind }) => kind === 'START_EVENT');
  const found = new Map<DraftNode, Pick<GraphNode, 'startPermissions'>>();
  for (const start of starts) {
    const values = new Values(start.element, problems);
    const own = permissionsOf(values);
    const isRequested = start.scope === null && (start.event === null || start.event.type === 'NONE');
    const startPermissions = own ?? ofProcess;
    if (isRequested && startPermissions !== undefined) {
      found.set(start, { startPermissions });
    } else if (own !== undefined) {
      values.error('MISPLACED_EXTENSION', 'Only a process and its none start events can have svc:start.');
    }
  }
  if (ofProcess !== undefined && found.size === 0) {
    problems.error(
      'MISPLACED_EXTENSION',
      element,
      'svc:start has no effect here, because no request can start the process.',
    );
  }
  return found;
}

function permissionsOf(values: Values): string[] | undefined {
  const names = (values.text('start') ?? '').split(',').map((name) => name.trim());
  const named = names.filter((name) => name !== '');
  // An empty attribute must not let everyone start the process.
  if (named.length === 0 && textOf(values.element, 'start') !== undefined) {
    values.error('INVALID_VALUE', 'svc:start must be a comma-separated list of permissions.');
  }
  return named.length === 0 ? undefined : named;
}
