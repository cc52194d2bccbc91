import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GraphNode } from '../../src/definitions/model/process-graph.types.js';
import { withoutScripts } from '../support/betsy.js';
import { bpmn, compileXml, definitions, flows, nodes } from './compile.js';

/** A type of the BPMN 2.0 meta-model. */
interface MetaType {
  name: string;
  isAbstract?: boolean;
  superClass?: string[];
}

type Outcome = 'runs' | 'warned' | 'refused';

const { types } = createRequire(import.meta.url)('bpmn-moddle/resources/bpmn/json/bpmn.json') as {
  types: MetaType[];
};
const byName = new Map(types.map((type) => [type.name, type]));

function isKindOf({ name, superClass = [] }: MetaType, parent: string): boolean {
  return (
    name === parent ||
    superClass.some((one) => {
      const type = byName.get(one);
      return type !== undefined && isKindOf(type, parent);
    })
  );
}

/** Returns the tags of all elements of a type in the meta-model, such as `userTask`. */
function tagsOf(parent: string): string[] {
  return types
    .filter((type) => type.isAbstract !== true && isKindOf(type, parent))
    .map(({ name }) => name.charAt(0).toLowerCase() + name.slice(1))
    .toSorted();
}

const START_END = nodes('startEvent:s endEvent:z');
const MESSAGE = '<bpmn:message id="m" svc:correlation=""/>';
const one = (element: string) =>
  bpmn(START_END + element + flows('s>a a>z'), {
    outside: `${MESSAGE}<bpmn:interface id="i" name="i"><bpmn:operation id="o" name="o"><bpmn:inMessageRef>m</bpmn:inMessageRef></bpmn:operation></bpmn:interface>`,
  });
const NAMESPACES =
  'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" xmlns:flowable="http://flowable.org/bpmn" xmlns:activiti="http://activiti.org/bpmn" xmlns:operaton="http://operaton.org/schema/1.0/bpmn" xmlns:drools="http://www.jboss.org/drools" xmlns:tns="http://www.jboss.org/drools"';
const ACTIONS = '<svc:actions><svc:action name="x" kind="startWorkflow" workflow="w"/></svc:actions>';
const task = (kind: string, attributes: string, extensions = '') =>
  one(
    `<bpmn:${kind} id="a" ${NAMESPACES} ${attributes}><bpmn:extensionElements>${extensions}</bpmn:extensionElements></bpmn:${kind}>`,
  );

async function outcomeOf(xml: string, element = 'a'): Promise<Outcome> {
  const { definitions: found, problems } = await compileXml(xml);
  if (found.length === 0) {
    expect(problems.some((problem) => problem.severity === 'error')).toBe(true);
    return 'refused';
  }
  return problems.some((problem) => problem.element === element) ? 'warned' : 'runs';
}

/** Expected result for each node with only an id: no node that should wait or work is ignored silently. */
const BARE: Readonly<Record<string, Outcome>> = {
  adHocSubProcess: 'refused',
  boundaryEvent: 'refused',
  businessRuleTask: 'refused',
  callActivity: 'refused',
  callChoreography: 'refused',
  choreographyTask: 'refused',
  complexGateway: 'refused',
  endEvent: 'runs',
  eventBasedGateway: 'refused',
  exclusiveGateway: 'refused',
  implicitThrowEvent: 'refused',
  inclusiveGateway: 'refused',
  intermediateCatchEvent: 'refused',
  intermediateThrowEvent: 'runs',
  manualTask: 'warned',
  parallelGateway: 'refused',
  receiveTask: 'refused',
  scriptTask: 'refused',
  sendTask: 'warned',
  serviceTask: 'warned',
  startEvent: 'runs',
  subChoreography: 'refused',
  subProcess: 'refused',
  task: 'warned',
  transaction: 'refused',
  userTask: 'runs',
};

describe('every BPMN node runs, is refused, or causes a warning', () => {
  it('covers all of them', () => {
    expect(tagsOf('FlowNode')).toEqual(Object.keys(BARE));
  });

  it.each(Object.entries(BARE))('%s without attributes: %s', async (tag, expected) => {
    const alone: Record<string, string> = {
      startEvent: bpmn(nodes('startEvent:a endEvent:z') + flows('a>z')),
      endEvent: bpmn(nodes('startEvent:s endEvent:a') + flows('s>a')),
    };
    expect(await outcomeOf(alone[tag] ?? one(`<bpmn:${tag} id="a"/>`))).toBe(expected);
  });

  const events = ['startEvent', 'intermediateCatchEvent', 'intermediateThrowEvent', 'endEvent'];
  it.each(events.flatMap((event) => tagsOf('EventDefinition').map((kind) => [event, kind] as const)))(
    '%s with an empty %s is refused or does what it says',
    async (event, kind) => {
      const content = `<bpmn:${event} id="a"><bpmn:${kind}/></bpmn:${event}>`;
      const ways: Record<string, string> = {
        startEvent: `${nodes('endEvent:z')}${flows('a>z')}`,
        endEvent: `${nodes('startEvent:s')}${flows('s>a')}`,
      };
      const xml = bpmn(content + (ways[event] ?? START_END + flows('s>a a>z')));
      const { definitions: found, problems } = await compileXml(xml);
      const runs = event === 'endEvent' && kind === 'terminateEventDefinition';
      expect(found.length > 0).toBe(runs);
      expect(problems.every(({ message }) => message.length > 20)).toBe(true);
    },
  );

  it.each([
    [
      'a timer',
      '<bpmn:timerEventDefinition><bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT1S</bpmn:timeDuration></bpmn:timerEventDefinition>',
    ],
    ['a message', '<bpmn:messageEventDefinition messageRef="m"/>'],
    ['an error', '<bpmn:errorEventDefinition/>'],
  ])('warns of %s that can never fire, since no token rests at the activity', async (_, definition) => {
    const boundary = `<bpmn:boundaryEvent id="b" attachedToRef="a">${definition}</bpmn:boundaryEvent>${flows('b>z')}`;
    const passing = `<bpmn:subProcess id="a">${nodes('startEvent:is task:it endEvent:iz')}${flows('is>it it>iz')}</bpmn:subProcess>`;
    const codes = async (element: string) =>
      (await compileXml(one(element + boundary))).problems
        .filter(({ element: id }) => id === 'b')
        .map(({ code }) => code);
    expect(await codes(nodes('task:a'))).toEqual(['BOUNDARY_NEVER_FIRES']);
    expect(await codes(passing)).toEqual(['BOUNDARY_NEVER_FIRES']);
    expect(await codes('<bpmn:callActivity id="a" calledElement="q"/>')).toEqual([]);
    expect(
      await codes(
        `<bpmn:task id="a"><bpmn:extensionElements>${ACTIONS}</bpmn:extensionElements></bpmn:task>`,
      ),
    ).toEqual([]);
    const inner = definition.includes('error')
      ? 'callActivity id="it" calledElement="q"'
      : 'userTask id="it"';
    expect(await codes(passing.replace('task id="it"', inner))).toEqual([]);
  });

  it('warns of message flows from and to nodes without messages', async () => {
    const xml = definitions(
      `<bpmn:collaboration id="C"><bpmn:participant id="p1" processRef="A"/><bpmn:participant id="p2" processRef="B"/><bpmn:messageFlow id="mf" sourceRef="at" targetRef="bt"/></bpmn:collaboration>
       <bpmn:process id="A">${nodes('startEvent:as userTask:at endEvent:az')}${flows('as>at at>az')}</bpmn:process>
       <bpmn:process id="B">${nodes('startEvent:bs userTask:bt endEvent:bz')}${flows('bs>bt bt>bz')}</bpmn:process>`,
    );
    const { problems } = await compileXml(xml);
    expect(problems).toMatchObject([
      {
        code: 'MESSAGE_FLOW_NOT_EXECUTED',
        element: 'mf',
        message:
          'The message flow has no effect: userTask "at" sends no message, and userTask "bt" waits for no message.',
      },
    ]);
  });
});

describe('implementations that are not run', () => {
  it.each([
    ['serviceTask', 'implementation="##WebService"', ''],
    ['serviceTask', 'implementation="https://example.com/service"', ''],
    ['serviceTask', 'operationRef="o"', ''],
    ['sendTask', 'implementation="##WebService"', ''],
    ['sendTask', 'operationRef="o"', ''],
    ['serviceTask', 'camunda:class="org.example.Pay"', ''],
    ['serviceTask', 'camunda:expression="${pay.run()}"', ''],
    ['serviceTask', 'camunda:delegateExpression="${pay}"', ''],
    ['serviceTask', 'camunda:type="external" camunda:topic="pay"', ''],
    ['sendTask', 'camunda:type="external" camunda:topic="mail"', ''],
    [
      'serviceTask',
      '',
      '<camunda:connector><camunda:connectorId>mail</camunda:connectorId></camunda:connector>',
    ],
    ['serviceTask', 'operaton:class="org.example.Pay"', ''],
    ['serviceTask', 'flowable:type="http"', ''],
    ['task', 'flowable:class="org.example.Pay"', ''],
    ['serviceTask', 'activiti:delegateExpression="${pay}"', ''],
    ['serviceTask', '', '<zeebe:taskDefinition type="pay"/>'],
    ['serviceTask', '', '<zeebe:script expression="=a+b" resultVariable="c"/>'],
    ['serviceTask', '', '<zeebe:calledDecision decisionId="d"/>'],
    ['task', 'tns:taskName="Email"', ''],
    ['serviceTask', 'drools:serviceimplementation="Java"', ''],
    ['userTask', '', '<camunda:taskListener class="org.example.Notify" event="create"/>'],
    ['userTask', '', '<camunda:executionListener class="org.example.Notify" event="start"/>'],
    ['userTask', '', '<zeebe:taskListeners><zeebe:taskListener type="x"/></zeebe:taskListeners>'],
    ['manualTask', '', '<flowable:executionListener class="org.example.Notify" event="start"/>'],
    [
      'userTask',
      '',
      '<drools:onEntry-script scriptFormat="x"><drools:script>1</drools:script></drools:onEntry-script>',
    ],
    ['intermediateThrowEvent', '', '<camunda:executionListener class="org.example.Notify" event="start"/>'],
  ])('refuses %s %s %s', async (kind, attributes, extensions) => {
    const { definitions: found, problems } = await compileXml(task(kind, attributes, extensions));
    expect(found).toEqual([]);
    const errors = problems.filter(({ severity }) => severity === 'error');
    expect(new Set(errors.map(({ code, element }) => `${code} ${element}`))).toEqual(
      new Set(['UNSUPPORTED_ELEMENT a']),
    );
    expect(errors[0]?.message).toMatch(/ of \w+ "a" is not executed here; .*svc:action.*\.$/);
    expect(problems.filter(({ code }) => code === 'TASK_DOES_NOTHING')).toEqual([]);
  });

  it.each([
    ['businessRuleTask', 'camunda:decisionRef="d"'],
    ['scriptTask', 'scriptFormat="javascript"'],
  ])('refuses %s and says what to write instead', async (kind, attributes) => {
    const { problems } = await compileXml(task(kind, attributes));
    expect(problems[0]?.message).toContain(
      'use a serviceTask with an automatic svc:action of kind "startWorkflow"',
    );
  });

  it.each([
    ['serviceTask', 'camunda:class="org.example.Pay"', ACTIONS],
    ['serviceTask', 'implementation="##WebService"', ACTIONS],
    ['serviceTask', 'operationRef="o"', ACTIONS],
    ['serviceTask', '', `${ACTIONS}<zeebe:taskDefinition type="pay"/>`],
    ['serviceTask', '', `${ACTIONS}<camunda:executionListener class="org.example.Notify" event="start"/>`],
    ['sendTask', 'messageRef="m" implementation="##WebService"', ''],
    ['receiveTask', 'messageRef="m" operationRef="o"', ''],
    ['userTask', 'implementation="##WebService"', ''],
    ['userTask', 'camunda:candidateGroups="accounting"', ''],
    ['userTask', '', '<camunda:inputOutput/>'],
  ])(
    'warns by name of %s %s %s, where something of ours is executed',
    async (kind, attributes, extensions) => {
      const { definitions: found, problems } = await compileXml(task(kind, attributes, extensions));
      expect(found).toHaveLength(1);
      expect(problems).toMatchObject([
        {
          severity: 'warning',
          code: 'FOREIGN_IMPLEMENTATION_NOT_RUN',
          element: 'a',
          message: expect.stringContaining(`${kind} "a"`),
        },
      ]);
    },
  );

  it.each([
    ['userTask', 'implementation="##unspecified"', ''],
    ['serviceTask', 'implementation="##unspecified"', ACTIONS],
    ['serviceTask', 'implementation=""', ACTIONS],
  ])('says nothing of %s %s', async (kind, attributes, extensions) => {
    expect((await compileXml(task(kind, attributes, extensions))).problems).toEqual([]);
  });

  it.each([
    ['userTask', 'camunda:formKey="f"', ''],
    ['userTask', 'camunda:assignee=""', ''],
    ['serviceTask', 'camunda:class=" "', ACTIONS],
    ['userTask', '', '<zeebe:userTask/>'],
    ['userTask', '', '<zeebe:formDefinition formId="f"/>'],
  ])('warns for %s %s %s only that the namespace has no effect', async (kind, attributes, extensions) => {
    const { problems } = await compileXml(task(kind, attributes, extensions));
    expect(problems.map(({ code }) => code)).toEqual(['FOREIGN_EXTENSION']);
  });

  it.each([
    ['another prefix', 'xmlns:q="http://camunda.org/schema/1.0/bpmn" q:class="x"', 'refused'],
    ['the same prefix for something else', 'xmlns:camunda="urn:other" camunda:class="x"', 'warned'],
    [
      'a prefix with two namespaces',
      'xmlns:flowable="http://camunda.org/schema/1.0/bpmn" flowable:topic="x"',
      'refused',
    ],
  ])('goes by the namespace: %s', async (_, attributes, expected) => {
    const xml = bpmn(`${START_END}<bpmn:serviceTask id="a" ${attributes}/>${flows('s>a a>z')}`).replace(
      '<bpmn:process',
      '<bpmn:process xmlns:flowable="urn:first"',
    );
    expect(await outcomeOf(xml)).toBe(expected);
  });

  it.each([
    [
      'process',
      bpmn(
        `<bpmn:extensionElements><c:executionListener xmlns:c="http://camunda.org/schema/1.0/bpmn" class="x"/></bpmn:extensionElements>${START_END}${flows('s>z')}`,
      ),
      'P',
    ],
    [
      'sequence flow',
      bpmn(
        `${START_END}<bpmn:sequenceFlow id="f" sourceRef="s" targetRef="z"><bpmn:extensionElements><c:executionListener xmlns:c="http://camunda.org/schema/1.0/bpmn" class="x"/></bpmn:extensionElements></bpmn:sequenceFlow>`,
      ),
      'f',
    ],
  ])('refuses a listener of a %s', async (_, xml, element) => {
    const { problems } = await compileXml(xml);
    expect(problems).toMatchObject([{ code: 'UNSUPPORTED_ELEMENT', element }]);
  });
});

/** Third-party models, kept outside the project. */
const FOLDER = resolve(import.meta.dirname, '../../../../../shared/bpmn');
const files = existsSync(FOLDER)
  ? readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.bpmn'))
  : [];

/** Whether a node does anything: an activity without work is only a drawing. */
function isExecuted({ kind, actions, event, call, starts }: GraphNode): boolean {
  const isActivity = [
    'TASK',
    'USER_TASK',
    'SEND_TASK',
    'RECEIVE_TASK',
    'SUB_PROCESS',
    'CALL_ACTIVITY',
  ].includes(kind);
  const works = actions.length > 0 || event?.type === 'MESSAGE' || call !== null || starts.length > 0;
  return !isActivity || works;
}

describe('third-party models: nodes ignored silently', () => {
  it.skipIf(files.length === 0)(
    files.length > 0
      ? 'is nothing in any accepted model'
      : `skipped: ${FOLDER} is missing, so no model was looked at`,
    async () => {
      const silent: string[] = [];
      let accepted = 0;
      for (const file of files) {
        const { definitions: found, problems } = await compileXml(
          withoutScripts(readFileSync(join(FOLDER, file), 'utf8')).xml,
        );
        accepted += found.length > 0 ? 1 : 0;
        const reported = new Set(problems.map(({ element }) => element));
        const idle = found
          .flatMap((graph) => graph.nodes)
          .filter((node) => !isExecuted(node) && !reported.has(node.key));
        silent.push(...idle.map(({ key }) => `${file}: ${key}`));
      }
      console.log(`${files.length} models, ${accepted} accepted, ${silent.length} nodes pass in silence`);
      expect(accepted).toBeGreaterThan(40);
      expect(silent).toEqual([]);
    },
    120_000,
  );
});
