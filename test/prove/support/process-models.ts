/** UI actions of the user tasks below, by the id of the task. */
export const UI_ACTIONS = {
  apply: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a01',
  left: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a02',
  right: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a03',
  sign: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a04',
  enter: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a05',
  confirm: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a06',
} as const;

export type UserTask = keyof typeof UI_ACTIONS;

/** A user task, two parallel ones, and a last one behind their join. Each stores the key of its own name. */
export const APPROVAL = file('approval', [
  '<bpmn:startEvent id="start"/>',
  userTask('apply'),
  '<bpmn:parallelGateway id="split"/>',
  userTask('left'),
  userTask('right'),
  '<bpmn:parallelGateway id="join"/>',
  userTask('sign'),
  '<bpmn:endEvent id="end"/>',
  path('start', 'apply', 'split', 'left', 'join', 'sign', 'end'),
  path('split', 'right', 'join'),
]);

/** Two user tasks, the first of which can be gone back to. */
export const RETURNING = file('returning', [
  '<bpmn:startEvent id="start"/>',
  userTask('enter', 'allowBack="true"'),
  userTask('confirm'),
  '<bpmn:endEvent id="end"/>',
  path('start', 'enter', 'confirm', 'end'),
]);

/**
 * As `APPROVAL`, but beside one user task a timer runs, after which an action counts, and a process is called and waited for:
 * work of the background that must have its effect once.
 */
export const ORDER = file('order', [
  '<bpmn:startEvent id="start"/>',
  userTask('apply'),
  '<bpmn:parallelGateway id="split"/>',
  userTask('left'),
  `<bpmn:intermediateCatchEvent id="pause"><bpmn:timerEventDefinition id="pause_timer"><bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT0.2S</bpmn:timeDuration></bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>`,
  counting('tick', 'ticks'),
  '<bpmn:callActivity id="call" calledElement="check" svc:copy="all" svc:outputKey="checked"/>',
  '<bpmn:parallelGateway id="join"/>',
  userTask('sign'),
  '<bpmn:endEvent id="end"/>',
  path('start', 'apply', 'split', 'left', 'join', 'sign', 'end'),
  path('split', 'pause', 'tick', 'join'),
  path('split', 'call', 'join'),
]);

/** The process that `ORDER` calls. */
export const CHECK = file('check', [
  '<bpmn:startEvent id="start"/>',
  counting('count', 'checks'),
  '<bpmn:endEvent id="end"/>',
  path('start', 'count', 'end'),
]);

/** Begins by the clock, every second, and ends at once. */
export const TICKER = file('ticker', [
  `<bpmn:startEvent id="start"><bpmn:timerEventDefinition id="start_timer"><bpmn:timeCycle xsi:type="bpmn:tFormalExpression">R/PT1S</bpmn:timeCycle></bpmn:timerEventDefinition></bpmn:startEvent>`,
  '<bpmn:endEvent id="end"/>',
  path('start', 'end'),
]);

function file(name: string, elements: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xmlns:svc="urn:svc:bpmn:1" id="${name}_definitions" targetNamespace="urn:prove">
<bpmn:process id="${name}" isExecutable="true">
${elements.join('\n')}
</bpmn:process>
</bpmn:definitions>`;
}

function userTask(id: UserTask, attributes = ''): string {
  return `<bpmn:userTask id="${id}"><bpmn:extensionElements>
<svc:actions><svc:action name="save" manual="true" keys="${id}" ${attributes}/></svc:actions>
<svc:uiActions><svc:uiAction name="${id}" action="save" uuid="${UI_ACTIONS[id]}"/></svc:uiActions>
</bpmn:extensionElements></bpmn:userTask>`;
}

/** Adds one to a number of the process data. */
function counting(id: string, key: string): string {
  return `<bpmn:task id="${id}"><bpmn:extensionElements><svc:actions>
<svc:action name="count" keys="${key}"><svc:data>{ "${key}": "\${${key} + 1}" }</svc:data></svc:action>
</svc:actions></bpmn:extensionElements></bpmn:task>`;
}

function path(...nodes: string[]): string {
  return nodes
    .slice(1)
    .map((target, index) => {
      const source = nodes[index] ?? '';
      return `<bpmn:sequenceFlow id="${source}_${target}" sourceRef="${source}" targetRef="${target}"/>`;
    })
    .join('\n');
}
