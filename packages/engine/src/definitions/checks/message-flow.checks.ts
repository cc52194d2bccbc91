import { cached } from '../../support/cached.js';
import { nameOf, type DefinitionProblems } from '../model/definition-problems.js';
import { childOf, childrenOf, idOf, isA, kindOf, partsOf, type BpmnElement } from '../model/bpmn-element.js';

/**
 * Checks message flows (BPMN 2.0.2, 9.3): they connect two pools. Message flows are not executed, since messages are matched by name,
 * but a wrong one shows that the author meant something else.
 */
export function checkMessageFlows(collaboration: BpmnElement, problems: DefinitionProblems): void {
  const pools = new Map<BpmnElement, BpmnElement>();
  for (const participant of childrenOf(collaboration, 'participants')) {
    const process = childOf(participant, 'processRef');
    if (process !== undefined) {
      pools.set(process, participant);
    }
  }
  const ends = new Map<BpmnElement, FlowEnd>();
  for (const flow of childrenOf(collaboration, 'messageFlows')) {
    checkFlow(flow, { pools, ends }, problems);
  }
}

/** Facts about an element at an end of a message flow. */
interface FlowEnd {
  pool: BpmnElement | undefined;
  isExecuted: boolean;
  sends: boolean;
  receives: boolean;
}

interface Known {
  readonly pools: ReadonlyMap<BpmnElement, BpmnElement>;
  /** Thousands of flows can start or end at one element. */
  readonly ends: Map<BpmnElement, FlowEnd>;
}

function endAt(element: BpmnElement, { pools, ends }: Known): FlowEnd {
  return cached(ends, element, () => {
    const receives = isOfMessage(element);
    return {
      pool: poolOf(element, pools),
      isExecuted: isExecutedNode(element),
      sends: receives || hasSendingAction(element),
      receives,
    };
  });
}

function checkFlow(flow: BpmnElement, known: Known, problems: DefinitionProblems): void {
  const source = childOf(flow, 'sourceRef');
  const target = childOf(flow, 'targetRef');
  if (source === undefined || target === undefined) {
    return;
  }
  const refuse = (message: string): void => problems.error('INVALID_MESSAGE_FLOW', flow, message);
  if (endAt(source, known).pool === endAt(target, known).pool) {
    refuse('A message flow must connect two pools; within one pool use a sequence flow.');
  }
  if (isA(source, 'bpmn:CatchEvent')) {
    refuse(`A message flow cannot start at a ${kindOf(source)}: it receives and does not send.`);
  }
  if (isA(target, 'bpmn:ThrowEvent')) {
    refuse(`A message flow cannot end at a ${kindOf(target)}: it sends and does not receive.`);
  }
  warnOfDrawing(flow, { source, target, known }, problems);
}

/** Warns of a message flow at an element that sends or receives no message. */
function warnOfDrawing(
  flow: BpmnElement,
  { source, target, known }: { source: BpmnElement; target: BpmnElement; known: Known },
  problems: DefinitionProblems,
): void {
  const from = endAt(source, known);
  const to = endAt(target, known);
  const idle = [
    ...(from.isExecuted && !from.sends ? [`${nameOf(kindOf(source), idOf(source))} sends no message`] : []),
    ...(to.isExecuted && !to.receives
      ? [`${nameOf(kindOf(target), idOf(target))} waits for no message`]
      : []),
  ];
  if (idle.length > 0) {
    const message = `The message flow has no effect: ${idle.join(', and ')}.`;
    problems.warning('MESSAGE_FLOW_NOT_EXECUTED', flow, message);
  }
}

function isExecutedNode(element: BpmnElement): boolean {
  let at: BpmnElement | undefined = element;
  while (at !== undefined && at.$type !== 'bpmn:Process') {
    at = at.$parent;
  }
  return isA(element, 'bpmn:FlowNode') && at !== undefined && at.isExecutable !== false;
}

/** Whether it is a message event, or a task with a message. */
function isOfMessage(element: BpmnElement): boolean {
  const definitions = ['eventDefinitions', 'eventDefinitionRef'].flatMap((name) => childrenOf(element, name));
  return (
    childOf(element, 'messageRef') !== undefined ||
    definitions.some(({ $type }) => $type === 'bpmn:MessageEventDefinition')
  );
}

function hasSendingAction(element: BpmnElement): boolean {
  return partsOf(element, 'svc:Actions', 'actions').some(({ kind }) => kind === 'sendMessage');
}

/** Returns the pool itself or the pool of the enclosing process; undefined outside all pools. */
function poolOf(element: BpmnElement, pools: ReadonlyMap<BpmnElement, BpmnElement>): BpmnElement | undefined {
  if (kindOf(element) === 'participant') {
    return element;
  }
  for (let at = element.$parent; at !== undefined; at = at.$parent) {
    const pool = pools.get(at);
    if (pool !== undefined) {
      return pool;
    }
  }
  return undefined;
}
