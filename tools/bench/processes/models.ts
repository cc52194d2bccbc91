/** Returns a BPMN file with one process; `elements` are its nodes and flows. */
function file(name: string, elements: string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:svc="urn:svc:bpmn:1" id="definitions" targetNamespace="urn:bench">
<bpmn:process id="${name}" name="${name}" isExecutable="true">
${elements.join('\n')}
</bpmn:process>
</bpmn:definitions>`;
}

/** Returns a user task that waits for its only UI action, which stores the request body. */
function userTask(id: string): string {
  return `<bpmn:userTask id="${id}" name="${id}"><bpmn:extensionElements>
<svc:actions><svc:action name="save" manual="true" keys="*"/></svc:actions>
<svc:uiActions><svc:uiAction name="${id}" action="save"/></svc:uiActions>
</bpmn:extensionElements></bpmn:userTask>`;
}

function flow(source: string, target: string, condition?: string): string {
  const content =
    condition === undefined
      ? ''
      : `<bpmn:conditionExpression xsi:type="bpmn:tFormalExpression">${condition}</bpmn:conditionExpression>`;
  return `<bpmn:sequenceFlow id="${source}_${target}" sourceRef="${source}" targetRef="${target}">${content}</bpmn:sequenceFlow>`;
}

/** Id of the first user task of `application`. */
export const FIRST_TASK = 'apply';

/**
 * Returns the process that both engines run: a user task, a decision, then either a user task or two parallel branches of
 * which one has a user task, and a last user task. The key `fork` of the data selects the parallel branches.
 * @param condition condition of the flow into the fork, in the engine's language
 */
export function application(condition: string): string {
  return file('application', [
    '<bpmn:startEvent id="start"/>',
    userTask(FIRST_TASK),
    '<bpmn:exclusiveGateway id="decide" default="decide_check"/>',
    userTask('check'),
    '<bpmn:parallelGateway id="split"/>',
    userTask('examine'),
    '<bpmn:task id="note"/>',
    '<bpmn:parallelGateway id="join"/>',
    userTask('sign'),
    '<bpmn:endEvent id="end"/>',
    flow('start', FIRST_TASK),
    flow(FIRST_TASK, 'decide'),
    flow('decide', 'check'),
    flow('decide', 'split', condition),
    flow('split', 'examine'),
    flow('split', 'note'),
    flow('examine', 'join'),
    flow('note', 'join'),
    flow('join', 'sign'),
    flow('check', 'sign'),
    flow('sign', 'end'),
  ]);
}

/** Returns a process with `count` user tasks in sequence. */
export function chain(name: string, count: number): string {
  const tasks = Array.from({ length: count }, (_, index) => `task${index}`);
  const path = ['start', ...tasks, 'end'];
  return file(name, [
    '<bpmn:startEvent id="start"/>',
    ...tasks.map(userTask),
    '<bpmn:endEvent id="end"/>',
    ...path.slice(1).map((target, index) => flow(path[index] ?? '', target)),
  ]);
}

/** Returns a process with a timer that is due at the time in the data key `due`. */
export function timer(name: string): string {
  return file(name, [
    '<bpmn:startEvent id="start"/>',
    '<bpmn:intermediateCatchEvent id="wait"><bpmn:timerEventDefinition><bpmn:timeDate xsi:type="bpmn:tFormalExpression">${due}</bpmn:timeDate></bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>',
    '<bpmn:endEvent id="end"/>',
    flow('start', 'wait'),
    flow('wait', 'end'),
  ]);
}
