import type { EventDefinition, NodeKind } from '../model/process-graph.types.js';
import { childOf, isA, type BpmnElement } from '../model/bpmn-element.js';

/** A node while its process is compiled; it refers to others directly. */
export interface DraftNode {
  readonly element: BpmnElement;
  readonly key: string;
  readonly kind: NodeKind;
  /** Enclosing embedded subprocess; null at the top level. */
  readonly scope: DraftNode | null;
  /** Position in the file. */
  readonly position: number;
  /** Position in the graph, where nodes are in the order of their ids. */
  index: number;
  event: EventDefinition | null;
  /** Position of its lane among those of the process. */
  lane: number | null;
  readonly incoming: DraftFlow[];
  /** In the order in which conditions are evaluated. */
  readonly outgoing: DraftFlow[];
  /** Attached boundary events; error events in the order in which they are tried. */
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
  /** Flows and boundary events that could not be connected. They are reported, and their targets are unknown. */
  readonly loose: ReadonlySet<BpmnElement>;
}

/** Category of each kind of node (BPMN 2.0.2, 10.3 to 10.6), and the local names of its elements. A new kind does not compile without. */
const KINDS = {
  START_EVENT: ['event', 'startEvent'],
  END_EVENT: ['event', 'endEvent'],
  INTERMEDIATE_CATCH_EVENT: ['event', 'intermediateCatchEvent'],
  INTERMEDIATE_THROW_EVENT: ['event', 'intermediateThrowEvent'],
  BOUNDARY_EVENT: ['event', 'boundaryEvent'],
  TASK: ['activity', 'task', 'serviceTask', 'manualTask'],
  USER_TASK: ['activity', 'userTask'],
  SEND_TASK: ['activity', 'sendTask'],
  RECEIVE_TASK: ['activity', 'receiveTask'],
  EXCLUSIVE_GATEWAY: ['gateway', 'exclusiveGateway'],
  PARALLEL_GATEWAY: ['gateway', 'parallelGateway'],
  INCLUSIVE_GATEWAY: ['gateway', 'inclusiveGateway'],
  EVENT_BASED_GATEWAY: ['gateway', 'eventBasedGateway'],
  SUB_PROCESS: ['activity', 'subProcess'],
  CALL_ACTIVITY: ['activity', 'callActivity'],
} as const satisfies Readonly<Record<NodeKind, readonly [Category, ...elements: string[]]>>;
type Category = 'event' | 'activity' | 'gateway';

/** Kinds of events. */
export type EventNodeKind = {
  [Kind in NodeKind]: (typeof KINDS)[Kind][0] extends 'event' ? Kind : never;
}[NodeKind];

/** Kinds of executed flow nodes, by the local names of their elements. */
export const NODE_KINDS: Readonly<Record<string, NodeKind>> = Object.fromEntries(
  Object.entries(KINDS).flatMap(([kind, [, ...elements]]) =>
    elements.map((element) => [element, kind as NodeKind]),
  ),
);

/** Reports whether a node is an event. */
export function isEvent(node: DraftNode): node is DraftNode & { readonly kind: EventNodeKind } {
  return KINDS[node.kind][0] === 'event';
}

/** Reports whether a node is an activity. */
export function isActivity({ kind }: DraftNode): boolean {
  return KINDS[kind][0] === 'activity';
}

/** Reports whether a node is a gateway. */
export function isGateway({ kind }: DraftNode): boolean {
  return KINDS[kind][0] === 'gateway';
}

/** Whether a node may have an outgoing flow that could not be connected: its source is this node or unknown. */
export function mayLeadOn({ element }: DraftNode, { loose }: ProcessDraft): boolean {
  return [...loose].some((flow) => {
    const source = childOf(flow, 'sourceRef');
    return isA(flow, 'bpmn:SequenceFlow') && (source === undefined || source === element);
  });
}
