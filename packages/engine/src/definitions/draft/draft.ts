import type { EventDefinition, NodeKind } from '../model/process-graph.types.js';
import { childOf, isA, type BpmnElement } from '../model/bpmn-element.js';

/** A node while its process is compiled; it refers to others directly. */
export interface DraftNode {
  readonly element: BpmnElement;
  readonly key: string;
  readonly kind: NodeKind;
  /** Embedded subprocess it stands in; null at the top. */
  readonly scope: DraftNode | null;
  /** Position in the file. */
  readonly position: number;
  /** Position in the graph, where nodes are in the order of their ids. */
  index: number;
  event: EventDefinition | null;
  /** Position of its lane among those of the process. */
  lane: number | null;
  readonly incoming: DraftFlow[];
  /** In the order in which conditions are asked. */
  readonly outgoing: DraftFlow[];
  /** Boundary events on it, error events in the order they are asked. */
  boundaries: DraftNode[];
  attachedTo: DraftNode | null;
}

/** A sequence flow while its process is compiled. */
export interface DraftFlow {
  readonly element: BpmnElement;
  readonly key: string;
  readonly source: DraftNode;
  readonly target: DraftNode;
  condition: string | null;
  /** Position in the graph. */
  index: number;
}

/** A process whose elements have been found and connected. */
export interface ProcessDraft {
  readonly element: BpmnElement;
  readonly key: string;
  /** Nodes of all levels. */
  readonly nodes: readonly DraftNode[];
  readonly flows: readonly DraftFlow[];
  /** Flows and boundary events that could not be connected, which is told: what they would have led to is not known. */
  readonly loose: ReadonlySet<BpmnElement>;
}

/** Kinds of flow nodes that are executed, by the local names of their elements. */
export const NODE_KINDS: Readonly<Record<string, NodeKind>> = {
  startEvent: 'START_EVENT',
  endEvent: 'END_EVENT',
  intermediateCatchEvent: 'INTERMEDIATE_CATCH_EVENT',
  intermediateThrowEvent: 'INTERMEDIATE_THROW_EVENT',
  boundaryEvent: 'BOUNDARY_EVENT',
  task: 'TASK',
  serviceTask: 'TASK',
  manualTask: 'TASK',
  userTask: 'USER_TASK',
  sendTask: 'SEND_TASK',
  receiveTask: 'RECEIVE_TASK',
  exclusiveGateway: 'EXCLUSIVE_GATEWAY',
  parallelGateway: 'PARALLEL_GATEWAY',
  inclusiveGateway: 'INCLUSIVE_GATEWAY',
  eventBasedGateway: 'EVENT_BASED_GATEWAY',
  subProcess: 'SUB_PROCESS',
  callActivity: 'CALL_ACTIVITY',
};

const ACTIVITIES: ReadonlySet<NodeKind> = new Set<NodeKind>([
  'TASK',
  'USER_TASK',
  'SEND_TASK',
  'RECEIVE_TASK',
  'SUB_PROCESS',
  'CALL_ACTIVITY',
]);
const GATEWAYS: ReadonlySet<NodeKind> = new Set<NodeKind>([
  'EXCLUSIVE_GATEWAY',
  'PARALLEL_GATEWAY',
  'INCLUSIVE_GATEWAY',
  'EVENT_BASED_GATEWAY',
]);

/** Whether a node is an activity (BPMN 2.0.2, 10.3). */
export function isActivity({ kind }: DraftNode): boolean {
  return ACTIVITIES.has(kind);
}

/** Whether a node is a gateway (BPMN 2.0.2, 10.6). */
export function isGateway({ kind }: DraftNode): boolean {
  return GATEWAYS.has(kind);
}

/** Whether a node may have a way out that could not be connected: it begins there, or nobody knows where it begins. */
export function mayLeadOn({ element }: DraftNode, { loose }: ProcessDraft): boolean {
  return [...loose].some((flow) => {
    const source = childOf(flow, 'sourceRef');
    return isA(flow, 'bpmn:SequenceFlow') && (source === undefined || source === element);
  });
}
