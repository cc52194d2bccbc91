import { turnWithRoom } from '../../../common/turns.js';
import type { GraphFlow, GraphLane, GraphNode, ProcessGraph } from '../model/process-graph.types.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { kindOf, textOf } from '../model/bpmn-element.js';
import type { ActionReader } from './action.reader.js';
import { readCall } from './call.reader.js';
import type { DraftNode, ProcessDraft } from '../draft/draft.js';
import type { SvcUuids } from './svc-uuids.js';
import { Values } from '../draft/values.js';
import { readStartPermissions } from './start-permissions.js';

/** What reads the parts of a node. */
export interface NodeReaders {
  problems: DefinitionProblems;
  uuids: SvcUuids;
  actions: ActionReader;
  /** Names of the processes of the file by their BPMN id. */
  names: ReadonlyMap<string, string>;
}

/** Nodes times flows into inclusive gateways: a step may have to look for each of these flows from where a token can come. */
const MAX_WAYS_TO_JOINS = 2_000_000;

/** The part of a graph that its nodes and flows make. */
export type GraphBody = Pick<ProcessGraph, 'nodes' | 'flows' | 'lanes' | 'starts'>;

/**
 * Numbers nodes and flows and turns references into numbers. Both are in the order of their ids, so that the order of
 * elements in the file means nothing.
 */
export class GraphBuilder {
  private readonly nodes: readonly DraftNode[];
  private readonly numbers: ReadonlyMap<DraftNode, number>;
  private readonly flowNumbers: ReadonlyMap<string, number>;
  private readonly flows: GraphFlow[];
  private readonly startPermissions: ReturnType<typeof readStartPermissions>;

  constructor(
    private readonly draft: ProcessDraft,
    private readonly readers: NodeReaders,
  ) {
    this.nodes = draft.nodes.toSorted(byKey);
    this.startPermissions = readStartPermissions(draft, readers.problems);
    this.numbers = new Map(this.nodes.map((node, index) => [node, index]));
    const flows = draft.flows.toSorted(byKey);
    this.flowNumbers = new Map(flows.map(({ key }, index) => [key, index]));
    this.flows = flows.map((flow, index) => ({
      index,
      key: flow.key,
      condition: flow.condition,
      source: this.numberOf(flow.source),
      target: this.numberOf(flow.target),
    }));
  }

  async build(lanes: GraphLane[]): Promise<GraphBody> {
    const nodes: GraphNode[] = [];
    for (const [index, node] of this.nodes.entries()) {
      nodes.push(this.node(node, index));
      await turnWithRoom();
    }
    const joined = nodes
      .filter(({ kind, incoming }) => kind === 'INCLUSIVE_GATEWAY' && incoming.length > 1)
      .reduce((sum, { incoming }) => sum + incoming.length, 0);
    if (joined * nodes.length > MAX_WAYS_TO_JOINS) {
      const message = `The process has ${nodes.length} nodes and ${joined} flows into inclusive gateways, which is too much together; divide it.`;
      this.readers.problems.error('PROCESS_TOO_LARGE', this.draft.element, message);
    }
    return { nodes, flows: this.flows, lanes, starts: this.startsIn(null) };
  }

  private node(node: DraftNode, index: number): GraphNode {
    const kind = kindOf(node.element);
    const { problems, uuids, names } = this.readers;
    const values = new Values(node.element, problems);
    const actions = this.readers.actions.actionsOf(node, kind);
    return {
      index,
      id: 0,
      key: node.key,
      kind: node.kind,
      event: node.event,
      lane: node.lane,
      actions,
      svcUuid: uuids.given(values) ?? uuids.ofNode(node.key),
      name: textOf(node.element, 'name')?.trim() || null,
      scope: node.scope === null ? null : this.numberOf(node.scope),
      incoming: node.incoming.map((flow) => this.flowNumber(flow.key)).toSorted((a, b) => a - b),
      outgoing: node.outgoing.map((flow) => this.flowNumber(flow.key)),
      defaultFlow: this.defaultFlow(node),
      startCondition: values.text('startCondition'),
      ...this.startPermissions.get(node),
      starts: node.kind === 'SUB_PROCESS' ? this.startsIn(node) : [],
      boundaries: node.boundaries.map((boundary) => this.numberOf(boundary)),
      attachedTo: node.attachedTo === null ? null : this.numberOf(node.attachedTo),
      interrupting: node.element.cancelActivity !== false,
      condition: node.kind === 'BOUNDARY_EVENT' ? values.expression('condition') : null,
      canGoBack: values.flag('canGoBack', true),
      uiActions: this.readers.actions.uiActionsOf(node, kind, actions),
      call: node.kind === 'CALL_ACTIVITY' ? readCall(node.element, names, problems) : null,
      timeout: node.kind === 'RECEIVE_TASK' ? values.duration('timeout', true) : null,
    };
  }

  private defaultFlow(node: DraftNode): number | null {
    const flow = node.outgoing.find(({ element }) => element === node.element.default);
    return flow === undefined ? null : this.flowNumber(flow.key);
  }

  private startsIn(scope: DraftNode | null): number[] {
    return this.nodes.flatMap((node, index) =>
      node.kind === 'START_EVENT' && node.scope === scope ? [index] : [],
    );
  }

  private numberOf(node: DraftNode): number {
    return this.numbers.get(node) ?? -1;
  }

  private flowNumber(key: string): number {
    return this.flowNumbers.get(key) ?? -1;
  }
}

/** By code units and not by language, so that every machine has one order. */
function byKey(a: { key: string }, b: { key: string }): number {
  return a.key < b.key ? -1 : Number(a.key > b.key);
}
