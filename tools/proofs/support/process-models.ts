/** UI action ids by the id of the user task. */
export const UI_ACTIONS = {
  apply: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a01',
  left: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a02',
  right: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a03',
  sign: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a04',
  enter: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a05',
  confirm: '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a06',
} as const;

export type UserTask = keyof typeof UI_ACTIONS;

/** Input schema of `LOOPS`. */
const LOOPS_INPUT = {
  type: 'object',
  required: ['name', 'rounds', 'log', 'cycles'],
  properties: { name: { type: 'string' }, log: { type: 'array' }, cycles: { type: 'integer' } },
};

/** A user task, two parallel ones, and a last one after their join. Each stores the key of its own name. */
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

/** Two user tasks. The action of the first is a return point. */
export const RETURNING = file('returning', [
  '<bpmn:startEvent id="start"/>',
  userTask('enter', 'allowBack="true"'),
  userTask('confirm'),
  '<bpmn:endEvent id="end"/>',
  path('start', 'enter', 'confirm', 'end'),
]);

/**
 * Like `APPROVAL`, but with one user task, a timer followed by a counting action, and a called process in parallel:
 * background work that must take effect exactly once.
 */
export const ORDER = order('<bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT0.2S</bpmn:timeDuration>');

/** Like `ORDER`, with a timer that fires at the time in the data key `due`. */
export const DUE_ORDER = order('<bpmn:timeDate xsi:type="bpmn:tFormalExpression">${due}</bpmn:timeDate>');

/**
 * A user task, two parallel ones that each repeat, and one after their join that loops back to the first. The start data
 * contain the numbers of repetitions. Every stored value is appended to the list `log`.
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
  loopBack('left_done', 'lefts < rounds.left', 'left', 'join'),
  loopBack('right_done', 'rights < rounds.right', 'right', 'join'),
  path('join', 'sign', 'signed'),
  loopBack('signed', 'cycles < rounds.all', 'enter', 'end'),
]);

/** The process that `ORDER` calls. */
export const CHECK = file('check', [
  '<bpmn:startEvent id="start"/>',
  counting('count', 'checks'),
  '<bpmn:endEvent id="end"/>',
  path('start', 'count', 'end'),
]);

/** Starts every second by a timer and ends immediately. */
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

/** Returns a task that increments a number in the process data. */
function counting(id: string, key: string): string {
  return saving(id, { [key]: `\${${key} + 1}` });
}

/** Returns a task that stores values in the process data. */
function saving(id: string, data: Readonly<Record<string, string>>): string {
  return `<bpmn:task id="${id}"><bpmn:extensionElements><svc:actions>
<svc:action name="save" keys="${Object.keys(data).join(', ')}"><svc:data>${JSON.stringify(data)}</svc:data></svc:action>
</svc:actions></bpmn:extensionElements></bpmn:task>`;
}

/** Returns a gateway that goes back to an element while a condition holds, and otherwise continues. */
function loopBack(from: string, condition: string, back: string, on: string): string {
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
