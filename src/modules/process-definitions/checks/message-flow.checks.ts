import { nameOf, type Problems } from '../problems.js';
import {
  childOf,
  childrenOf,
  extensionOf,
  idOf,
  isA,
  kindOf,
  type BpmnElement,
} from '../reader/bpmn-element.js';

/**
 * Checks message flows (BPMN 2.0.2, 9.3): they pass between two pools. They are drawings, messages find each other by name;
 * but a wrong one says that something else was meant.
 */
export function checkMessageFlows(collaboration: BpmnElement, problems: Problems): void {
  const pools = new Map<BpmnElement, BpmnElement>();
  for (const participant of childrenOf(collaboration, 'participants')) {
    const process = childOf(participant, 'processRef');
    if (process !== undefined) {
      pools.set(process, participant);
    }
  }
  childrenOf(collaboration, 'messageFlows').forEach((flow) => checkFlow(flow, pools, problems));
}

function checkFlow(
  flow: BpmnElement,
  pools: ReadonlyMap<BpmnElement, BpmnElement>,
  problems: Problems,
): void {
  const source = childOf(flow, 'sourceRef');
  const target = childOf(flow, 'targetRef');
  if (source === undefined || target === undefined) {
    return;
  }
  const refuse = (message: string): void => problems.error('INVALID_MESSAGE_FLOW', flow, message);
  if (poolOf(source, pools) === poolOf(target, pools)) {
    refuse('A message flow passes between two pools; within one pool draw a sequence flow.');
  }
  if (isA(source, 'bpmn:CatchEvent')) {
    refuse(`A message flow cannot start at a ${kindOf(source)}: it receives and does not send.`);
  }
  if (isA(target, 'bpmn:ThrowEvent')) {
    refuse(`A message flow cannot end at a ${kindOf(target)}: it sends and does not receive.`);
  }
  warnOfDrawing(flow, { source, target }, problems);
}

/** The drawing says that a message is sent or awaited where nothing of the kind is executed. */
function warnOfDrawing(
  flow: BpmnElement,
  { source, target }: { source: BpmnElement; target: BpmnElement },
  problems: Problems,
): void {
  const idle = [
    ...(isExecutedNode(source) && !sends(source)
      ? [`${nameOf(kindOf(source), idOf(source))} sends no message`]
      : []),
    ...(isExecutedNode(target) && !isOfMessage(target)
      ? [`${nameOf(kindOf(target), idOf(target))} waits for no message`]
      : []),
  ];
  if (idle.length > 0) {
    const message = `The message flow is only drawn: ${idle.join(', and ')}.`;
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

function sends(element: BpmnElement): boolean {
  const actions = extensionOf(element, 'svc:Actions');
  const kinds = actions === undefined ? [] : childrenOf(actions, 'actions').map((action) => action.kind);
  return isOfMessage(element) || kinds.includes('sendMessage');
}

/** The pool itself, or that of the process around; undefined outside of all pools. */
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
