import { v5 as uuid } from 'uuid';

const NAMESPACE = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';

/** Returns the `svcUuid` of the UI action that `userTask` binds to a manual action. */
export function ui(task: string, action = 'done'): string {
  return uuid(`${task} ${action}`, NAMESPACE);
}

/** A manual or automatic action. `inner` is the content of the element; all other members are attributes. */
export interface ActionSpec {
  name: string;
  inner?: string;
  [attribute: string]: string | boolean | number | undefined;
}

/** A user task with actions. Each manual action gets a UI action with the id that {@link ui} returns. */
export interface UserTaskSpec {
  attributes?: string;
  actions?: ActionSpec[];
  /** Inner elements of UI actions (`svc:body`, `svc:bodySchema`), by action name. */
  uiActions?: Record<string, string>;
  /** Attributes of UI actions, by action name. */
  uiAttributes?: Record<string, string>;
}

const DONE: ActionSpec = { name: 'done', manual: true, keys: '*' };

/** Returns a user task. By default it waits for the mandatory manual action `done`, which stores all submitted data. */
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

/** Returns a service task with automatic actions. */
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

/** Returns a BPMN element with an id. */
export function node(tag: string, id: string, inner = '', attributes = ''): string {
  return `<bpmn:${tag} id="${id}" name="${id}" ${attributes}>${inner}</bpmn:${tag}>`;
}

/** Returns a timer event definition: an ISO 8601 duration, date or cycle, or an expression. */
export function timerEvent(kind: 'timeDuration' | 'timeDate' | 'timeCycle', text: string): string {
  return `<bpmn:timerEventDefinition><bpmn:${kind} xsi:type="bpmn:tFormalExpression">${text}</bpmn:${kind}></bpmn:timerEventDefinition>`;
}

/** Returns sequence flows for a text such as `a>b c>d[amount > 3]`. The flow `a>b` has the id `a_b`. */
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

/** Returns a BPMN file with one process. */
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

/** Returns a process with a start event, these tasks in sequence, and an end event. */
export function taskProcess(name: string, ...tasks: string[]): string {
  const ids = tasks.map((task) => /id="(\w+)"/.exec(task)?.[1] ?? '');
  const path = ['start', ...ids, 'end'];
  const text = path
    .slice(1)
    .map((id, index) => `${path[index]}>${id}`)
    .join(' ');
  return processFile(
    name,
    [node('startEvent', 'start'), ...tasks, node('endEvent', 'end'), flows(text)].join('\n'),
  );
}

/** Returns a process with one user task, at which the token waits. */
export function userTaskProcess(name = 'hello', task = 'approve'): string {
  return taskProcess(name, node('userTask', task));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
