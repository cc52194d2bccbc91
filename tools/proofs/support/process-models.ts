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

/** What a start of `LOOPS` must say. */
const LOOPS_INPUT = {
  type: 'object',
  required: ['name', 'rounds', 'log', 'cycles'],
  properties: { name: { type: 'string' }, log: { type: 'array' }, cycles: { type: 'integer' } },
};

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
export const ORDER = order('<bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT0.2S</bpmn:timeDuration>');

/** As `ORDER`, with a timer that fires at the instant that the data name `due`. */
export const DUE_ORDER = order('<bpmn:timeDate xsi:type="bpmn:tFormalExpression">${due}</bpmn:timeDate>');

/**
 * A user task, then two parallel ones, each of which is come to again and again, then one behind their join that leads back to
 * the first. How often, the start data say. Every value that an action takes is appended to the list `log`.
 */
export const LOOPS = file('loops', [
  `<bpmn:extensionElements><svc:inputSchema>${JSON.stringify(LOOPS_INPUT)}</svc:inputSchema></bpmn:extensionElements>`,
  '<bpmn:startEvent id="start"/>',
  userTask('enter'),
  saving('entered', { log: '${log + [enter]}', lefts: '${0}', rights: '${0}' }),
  '<bpmn:parallelGateway id="split"/>',
  userTask('left'),
  saving('left_done', { log: '${log + [left]}', lefts: '${lefts + 1}' }),
  userTask('right'),
  saving('right_done', { log: '${log + [right]}', rights: '${rights + 1}' }),
  '<bpmn:parallelGateway id="join"/>',
  userTask('sign'),
  saving('signed', { log: '${log + [sign]}', cycles: '${cycles + 1}' }),
  '<bpmn:endEvent id="end"/>',
  path('start', 'enter', 'entered', 'split', 'left', 'left_done'),
  path('split', 'right', 'right_done'),
  again('left_done', 'lefts < rounds.left', 'left', 'join'),
  again('right_done', 'rights < rounds.right', 'right', 'join'),
  path('join', 'sign', 'signed'),
  again('signed', 'cycles < rounds.all', 'enter', 'end'),
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

function order(timer: string): string {
  return file('order', [
    '<bpmn:startEvent id="start"/>',
    userTask('apply'),
    '<bpmn:parallelGateway id="split"/>',
    userTask('left'),
    `<bpmn:intermediateCatchEvent id="pause"><bpmn:timerEventDefinition id="pause_timer">${timer}</bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>`,
    counting('tick', 'ticks'),
    '<bpmn:callActivity id="call" calledElement="check" svc:copy="all" svc:outputKey="checked"/>',
    '<bpmn:parallelGateway id="join"/>',
    userTask('sign'),
    '<bpmn:endEvent id="end"/>',
    path('start', 'apply', 'split', 'left', 'join', 'sign', 'end'),
    path('split', 'pause', 'tick', 'join'),
    path('split', 'call', 'join'),
  ]);
}

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
  return saving(id, { [key]: `\${${key} + 1}` });
}

/** Stores values in the process data. */
function saving(id: string, data: Readonly<Record<string, string>>): string {
  return `<bpmn:task id="${id}"><bpmn:extensionElements><svc:actions>
<svc:action name="save" keys="${Object.keys(data).join(', ')}"><svc:data>${JSON.stringify(data)}</svc:data></svc:action>
</svc:actions></bpmn:extensionElements></bpmn:task>`;
}

/** Leads from an element back to another one while a condition holds, and then on. */
function again(from: string, condition: string, back: string, on: string): string {
  const id = `${from}_again`;
  return `<bpmn:exclusiveGateway id="${id}" default="${id}_${on}"/>${path(from, id, on)}
<bpmn:sequenceFlow id="${id}_${back}" sourceRef="${id}" targetRef="${back}"><bpmn:conditionExpression xsi:type="bpmn:tFormalExpression"><![CDATA[${condition}]]></bpmn:conditionExpression></bpmn:sequenceFlow>`;
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
