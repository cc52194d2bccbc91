import { yieldEventLoop } from '../../support/yield-event-loop.js';
import type { GraphLane, GraphNode, ProcessGraph } from '../model/process-graph.types.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { kindOf, textOf } from '../model/bpmn-element.js';
import type { ActionReader } from './action.reader.js';
import { readCall } from './call.reader.js';
import type { DraftNode, ProcessDraft } from '../draft/draft.js';
import type { SvcUuids } from './svc-uuids.js';
import { Values } from '../draft/values.js';
import { readStartPermissions } from './start-permissions.js';

/** Readers of the parts of a node. */
export interface NodeReaders {
  problems: DefinitionProblems;
  uuids: SvcUuids;
  actions: ActionReader;
  /** Names of the processes of the file by their BPMN id. */
  names: ReadonlyMap<string, string>;
}

/** Limit of nodes times flows into inclusive gateways, since a step may have to compute reachability for each such flow. */
const MAX_WAYS_TO_JOINS = 2_000_000;

/** Nodes, flows and lanes of a graph. */
export type GraphBody = Pick<ProcessGraph, 'nodes' | 'flows' | 'lanes' | 'starts'>;

/**
 * Converts references between nodes and flows to indexes. Both are sorted by id, so the order of elements in the file does not matter.
 */
export async function buildGraph(
  draft: ProcessDraft,
  readers: NodeReaders,
  lanes: GraphLane[],
): Promise<GraphBody> {
  const startPermissions = readStartPermissions(draft, readers.problems);
  const nodes: GraphNode[] = [];
  for (const node of draft.nodes.toSorted(byIndex)) {
    const starts = node.kind === 'SUB_PROCESS' ? startsIn(node, draft) : [];
    nodes.push({ ...graphNode(node, readers), ...startPermissions.get(node), starts });
    await yieldEventLoop();
  }
  const joined = nodes
    .filter(({ kind, incoming }) => kind === 'INCLUSIVE_GATEWAY' && incoming.length > 1)
    .reduce((sum, { incoming }) => sum + incoming.length, 0);
  if (joined * nodes.length > MAX_WAYS_TO_JOINS) {
    const message = `The process has ${nodes.length} nodes and ${joined} flows into inclusive gateways, which together exceed the limit; split it.`;
    readers.problems.error('PROCESS_TOO_LARGE', draft.element, message);
  }
  const flows = draft.flows.toSorted(byIndex).map(({ index, key, condition, source, target }) => ({
    index,
    key,
    condition,
    source: source.index,
    target: target.index,
  }));
  return { nodes, flows, lanes, starts: startsIn(null, draft) };
}

function graphNode(node: DraftNode, { problems, uuids, names, actions: reader }: NodeReaders): GraphNode {
  const kind = kindOf(node.element);
  const values = new Values(node.element, problems);
  const actions = reader.actionsOf(node, kind);
  const defaultFlow = node.outgoing.find(({ element }) => element === node.element.default);
  return {
    index: node.index,
    id: 0,
    key: node.key,
    kind: node.kind,
    event: node.event,
    lane: node.lane,
    actions,
    svcUuid: uuids.given(values) ?? uuids.ofNode(node.key),
    name: textOf(node.element, 'name')?.trim() || null,
    scope: indexOf(node.scope),
    incoming: indexes(node.incoming).toSorted((a, b) => a - b),
    outgoing: indexes(node.outgoing),
    defaultFlow: indexOf(defaultFlow),
    startCondition: values.text('startCondition'),
    starts: [],
    boundaries: indexes(node.boundaries),
    attachedTo: indexOf(node.attachedTo),
    interrupting: node.element.cancelActivity !== false,
    condition: node.kind === 'BOUNDARY_EVENT' ? values.expression('condition') : null,
    canGoBack: values.flag('canGoBack', true),
    uiActions: reader.uiActionsOf(node, kind, actions),
    call: node.kind === 'CALL_ACTIVITY' ? readCall(node.element, names, problems) : null,
    timeout: node.kind === 'RECEIVE_TASK' ? values.duration('timeout', true) : null,
  };
}

function startsIn(scope: DraftNode | null, { nodes }: ProcessDraft): number[] {
  const starts = nodes.filter((node) => node.kind === 'START_EVENT' && node.scope === scope);
  return indexes(starts).toSorted((a, b) => a - b);
}

function indexOf(part: { index: number } | null | undefined): number | null {
  return part?.index ?? null;
}

function indexes(all: readonly { index: number }[]): number[] {
  return all.map(({ index }) => index);
}

function byIndex(a: { index: number }, b: { index: number }): number {
  return a.index - b.index;
}
