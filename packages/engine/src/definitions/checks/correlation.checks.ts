import { pathsInExpression } from '../../expressions/read-paths.js';
import { CheckWork } from '../../json-schema/known-members.js';
import { writePath } from '../../paths/data-keys.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import type { GraphNode, ProcessGraph } from '../model/process-graph.types.js';
import { sourcesOf, withoutAlias } from './data-names.checks.js';
import { StartValues } from './start-values.js';

const MAX_WORK = 100_000;

/**
 * Warns of correlations that come from the body of a start open to everyone: a caller who starts such a process with somebody else's
 * value receives or sends messages meant for others (docs/bpmn.md, "Messages").
 */
export function checkCorrelations(graph: ProcessGraph, problems: DefinitionProblems): void {
  const correlations = graph.nodes.flatMap(correlationsOf);
  if (correlations.length === 0 || !graph.starts.some((start) => isOpen(graph, start))) {
    return;
  }
  const work = new CheckWork(MAX_WORK);
  const sources = sourcesOf(graph, new Map(), work);
  const values = new StartValues(graph, sources, work, (start) => isOpen(graph, start));
  for (const { element, expression, at } of correlations) {
    const path = pathsInExpression(expression)
      .map((read) => withoutAlias(read, sources))
      .find((read) => values.reach({ path: read, ...at }));
    if (path !== undefined && !work.isSpent) {
      problems.warning(
        'CORRELATION_FROM_START',
        element,
        `The correlation uses "${writePath(path)}" from the start body, and every caller may start the process. A caller could therefore receive or send messages that are meant for other instances. Restrict starts with svc:start, or use a correlation value that callers cannot choose.`,
      );
    }
  }
}

/** Whether a request can start there without a permission. */
function isOpen({ nodes, lanes }: ProcessGraph, start: number): boolean {
  const node = nodes[start];
  return (
    node !== undefined &&
    (node.event === null || node.event.type === 'NONE') &&
    node.startPermissions === undefined &&
    (node.lane === null || lanes[node.lane]?.execute.length === 0)
  );
}

function correlationsOf({ index: node, key: element, kind, event, actions }: GraphNode) {
  const own =
    event?.type === 'MESSAGE' && kind !== 'START_EVENT'
      ? [{ element, expression: event.correlation, at: { node } }]
      : [];
  const sent = actions.flatMap(({ operation }, index) =>
    operation.kind === 'SEND_MESSAGE'
      ? [{ element, expression: operation.correlation, at: { node, actions: index } }]
      : [],
  );
  return [...own, ...sent].flatMap(({ expression, ...rest }) =>
    expression === null ? [] : [{ ...rest, expression }],
  );
}
