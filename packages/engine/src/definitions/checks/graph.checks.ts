import type { DefinitionProblems } from '../model/definition-problems.js';
import type { CallTarget, GraphNode, ProcessGraph } from '../model/process-graph.types.js';

/**
 * Warns of boundary events that can never fire. A timer or message needs an activity where a token rests, an error needs an activity
 * that can fail.
 */
export function checkBoundaryUse({ nodes }: ProcessGraph, problems: DefinitionProblems): void {
  // The effect of an action with a misspelt attribute is unknown.
  const isUnsure = ({ key }: GraphNode): boolean => problems.hasWrongValueAt(key);
  const resting = withScopes(nodes, (node) => mayRest(node) || isUnsure(node));
  const failing = withScopes(nodes, (node) => mayFail(node) || isUnsure(node));
  for (const { key, event, attachedTo } of nodes) {
    const activity = attachedTo === null ? undefined : nodes[attachedTo];
    if (activity === undefined || problems.hasWrongReference(key)) {
      continue;
    }
    const isError = event?.type === 'ERROR';
    if (!(isError ? failing : resting).has(activity)) {
      const why = isError
        ? 'nothing in it can throw an error: no awaited called process, no workflow and no error end event'
        : 'the token does not stay there';
      const message = `"${key}" can never fire at "${activity.key}": ${why}.`;
      problems.warning('BOUNDARY_NEVER_FIRES', key, message);
    }
  }
}

/** Returns the nodes that satisfy a predicate, with their enclosing subprocesses. */
function withScopes(
  nodes: readonly GraphNode[],
  holds: (node: GraphNode) => boolean,
): ReadonlySet<GraphNode> {
  const found = new Set<GraphNode>();
  for (const node of nodes.filter(holds)) {
    let at: GraphNode | undefined = node;
    while (at !== undefined && !found.has(at)) {
      found.add(at);
      at = at.scope === null ? undefined : nodes[at.scope];
    }
  }
  return found;
}

const WAITING_EVENTS: ReadonlySet<string> = new Set(['INTERMEDIATE_CATCH_EVENT', 'EVENT_BASED_GATEWAY']);

function mayRest({ kind, actions, call }: GraphNode): boolean {
  return (
    kind === 'RECEIVE_TASK' ||
    WAITING_EVENTS.has(kind) ||
    call?.waits === true ||
    actions.some(
      ({ manual, optional, delay, operation }) =>
        (manual && !optional) || delay !== null || operation.kind === 'START_WORKFLOW',
    )
  );
}

function mayFail({ kind, event, actions, call }: GraphNode): boolean {
  return (
    call?.waits === true ||
    (kind === 'END_EVENT' && event?.type === 'ERROR') ||
    actions.some(({ operation }) => operation.kind === 'START_WORKFLOW')
  );
}

/**
 * Checks call activities that call a process of their own file: it must have a start event that a call can use (BPMN 2.0.2,
 * 10.5.2). Calls across files are checked where all files are known.
 */
export function checkCalls(definitions: readonly ProcessGraph[], problems: DefinitionProblems): void {
  const starts = new Map(definitions.map((definition) => [definition.name, startsOf(definition)]));
  for (const { key, call } of definitions.flatMap(({ nodes }) => nodes)) {
    const called = call === null || call.appId !== null ? undefined : starts.get(call.process);
    if (call !== null && called !== undefined && !fits(called, call)) {
      const message = `"${call.process}" has no none start event that this call activity can use.`;
      problems.error('CALLED_PROCESS_HAS_NO_START', key, message);
    }
  }
}

/** Returns the start conditions of the none start events, null for one without. */
function startsOf({ nodes, starts }: ProcessGraph): ReadonlySet<string | null> {
  const events = starts.flatMap((index) => nodes[index] ?? []).filter(({ event }) => event?.type === 'NONE');
  return new Set(events.map(({ startCondition }) => startCondition));
}

function fits(starts: ReadonlySet<string | null>, { startCondition }: CallTarget): boolean {
  return startCondition === null ? starts.size > 0 : starts.has(startCondition);
}
