import { v5 as uuid } from 'uuid';

const NAMESPACE = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';

/** The `svcUuid` of the UI action that `userTask` binds to a manual action. */
export function ui(task: string, action = 'done'): string {
  return uuid(`${task} ${action}`, NAMESPACE);
}

/** A manual or automatic action as a test writes it; members are attributes, `inner` is what stands inside. */
export interface ActionSpec {
  name: string;
  inner?: string;
  [attribute: string]: string | boolean | number | undefined;
}

/** A user task with actions, and a UI action, see `ui`, for each manual one. */
export interface UserTaskSpec {
  attributes?: string;
  actions?: ActionSpec[];
  /** Inner elements of a UI action by the name of its action: `svc:body`, `svc:bodySchema`. */
  uiActions?: Record<string, string>;
  /** Attributes of a UI action by the name of its action. */
  uiAttributes?: Record<string, string>;
}

const DONE: ActionSpec = { name: 'done', manual: true, keys: '*' };

/** A user task; without actions it waits for the mandatory manual action `done`, which stores everything. */
export function userTask(id: string, spec: UserTaskSpec = {}): string {
  const actions = spec.actions ?? [DONE];
  const uiActions = actions
    .filter(({ manual }) => manual === true)
    .map(({ name }) => {
      const inner = spec.uiActions?.[name] ?? '';
      const more = spec.uiAttributes?.[name] ?? '';
      return `<svc:uiAction uuid="${ui(id, name)}" name="${name}" action="${name}" ${more}>${inner}</svc:uiAction>`;
    });
  return node(
    'userTask',
    id,
    `<bpmn:extensionElements><svc:actions>${actions.map(action).join('')}</svc:actions>
     <svc:uiActions>${uiActions.join('')}</svc:uiActions></bpmn:extensionElements>`,
    spec.attributes,
  );
}

/** A service task with automatic actions. */
export function serviceTask(id: string, actions: ActionSpec[]): string {
  return node(
    'serviceTask',
    id,
    `<bpmn:extensionElements><svc:actions>${actions.map(action).join('')}</svc:actions></bpmn:extensionElements>`,
  );
}

function action({ inner = '', ...attributes }: ActionSpec): string {
  const text = Object.entries(attributes)
    .map(([name, value]) => `${name}="${escaped(String(value))}"`)
    .join(' ');
  return `<svc:action ${text}>${inner}</svc:action>`;
}

/** Any element with an id. */
export function node(tag: string, id: string, inner = '', attributes = ''): string {
  return `<bpmn:${tag} id="${id}" name="${id}" ${attributes}>${inner}</bpmn:${tag}>`;
}

/** What makes an event a timer: an ISO 8601 duration, date or cycle, or an expression. */
export function timerEvent(kind: 'timeDuration' | 'timeDate' | 'timeCycle', text: string): string {
  return `<bpmn:timerEventDefinition><bpmn:${kind} xsi:type="bpmn:tFormalExpression">${text}</bpmn:${kind}></bpmn:timerEventDefinition>`;
}

/** Sequence flows, `a>b c>d[amount > 3]`; the flow of `a>b` has the id `a_b`. */
export function flows(text: string): string {
  return text
    .split(/\s+(?=\w+>)/)
    .map((part) => {
      const [, source = '', target = '', condition] = /^(\w+)>(\w+)(?:\[(.*)\])?$/s.exec(part.trim()) ?? [];
      const inner =
        condition === undefined
          ? ''
          : `<bpmn:conditionExpression xsi:type="bpmn:tFormalExpression">${escaped(condition)}</bpmn:conditionExpression>`;
      return `<bpmn:sequenceFlow id="${source}_${target}" sourceRef="${source}" targetRef="${target}">${inner}</bpmn:sequenceFlow>`;
    })
    .join('\n');
}

/** A file with one process. */
export function processFile(
  name: string,
  content: string,
  { attributes = '', outside = '' }: { attributes?: string; outside?: string } = {},
): string {
  const id = name.replaceAll(/\W/g, '_');
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:svc="urn:svc:bpmn:1"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" id="file_${id}" targetNamespace="test">
  ${outside}
  <bpmn:process id="P_${id}" name="${name}" isExecutable="true" ${attributes}>
${content}
  </bpmn:process>
</bpmn:definitions>
`;
}

/** start, the tasks in a row, end. */
export function taskProcess(name: string, ...tasks: string[]): string {
  const ids = tasks.map((task) => /id="(\w+)"/.exec(task)?.[1] ?? '');
  const way = ['start', ...ids, 'end'];
  const text = way
    .slice(1)
    .map((id, index) => `${way[index]}>${id}`)
    .join(' ');
  return processFile(
    name,
    [node('startEvent', 'start'), ...tasks, node('endEvent', 'end'), flows(text)].join('\n'),
  );
}

/** Start, user task, end: the token waits at the task. */
export function userTaskProcess(name = 'hello', task = 'approve'): string {
  return taskProcess(name, node('userTask', task));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
