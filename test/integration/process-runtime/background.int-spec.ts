import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { TestApp } from '../../support/app.js';
import {
  flows,
  node,
  processFile,
  serviceTask,
  taskProcess,
  timerEvent,
  ui,
  userTask,
} from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, executed, started } from '../../support/runtime/runtime-client.js';
import {
  childRows,
  eventRows,
  incidentRows,
  instanceRow,
  jobRows,
  stateOf,
  tokenRows,
} from '../../support/runtime/runtime-rows.js';

const duration = (text: string): string => timerEvent('timeDuration', text);
const message = (name: string, correlation?: string): string =>
  `<bpmn:messageEventDefinition messageRef="M_${name}" ${correlation === undefined ? '' : `svc:correlation="${correlation}"`}/>`;
const messageOf = (name: string): string => `<bpmn:message id="M_${name}" name="${name}"/>`;

const timer = processFile(
  'timer',
  `${node('startEvent', 'start')}${node('intermediateCatchEvent', 'wait', duration('PT0.3S'))}${userTask('a')}${node('endEvent', 'end')}
   ${flows('start>wait wait>a a>end')}`,
);
const boundaryOf = (name: string, time: string): string =>
  processFile(
    name,
    `${node('startEvent', 'start')}${userTask('a')}
     ${node('boundaryEvent', 'late', duration(time), 'attachedToRef="a"')}${userTask('b')}${node('endEvent', 'end')}
     ${flows('start>a a>end late>b b>end')}`,
  );
const delayed = processFile(
  'delayed',
  `${node('startEvent', 'start')}${serviceTask('s', [
    { name: 'later', delay: 'PT0.2S', keys: '*', inner: '<svc:data>{"done":true}</svc:data>' },
  ])}${node('endEvent', 'end')}${flows('start>s s>end')}`,
);
const expiringOf = (name: string, time: string): string =>
  processFile(
    name,
    `${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
    { attributes: `svc:expiresAfter="${time}"` },
  );
const longWay = processFile(
  'long_way',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'loop')}${node('endEvent', 'end')}
   ${serviceTask('t', [{ name: 'count', keys: 'n', inner: '<svc:data>{"n":"${n + 1}"}</svc:data>' }])}
   ${flows('start>loop loop>end[n >= 30] loop>t[n < 30] t>loop')}`,
);
const receiver = processFile(
  'receiver',
  `${node('startEvent', 'start')}${node('intermediateCatchEvent', 'catch', message('paid', 'order'))}${userTask('a')}${node('endEvent', 'end')}
   ${flows('start>catch catch>a a>end')}`,
  { outside: messageOf('paid') },
);
const sender = processFile(
  'sender',
  `${node('startEvent', 'start')}${serviceTask('s', [
    {
      name: 'send',
      kind: 'sendMessage',
      message: 'paid',
      correlation: 'order',
      inner: '<svc:payload>{"amount":"${amount}"}</svc:payload>',
    },
  ])}${node('endEvent', 'end')}${flows('start>s s>end')}`,
);
const caller = processFile(
  'caller',
  `${node('startEvent', 'start')}
   ${node('callActivity', 'call', '', 'calledElement="child" svc:outputKey="answer"')}${userTask('a')}${node('endEvent', 'end')}
   ${flows('start>call call>a a>end')}`,
);
const many = processFile(
  'many',
  `${node('startEvent', 'start')}
   ${node(
     'callActivity',
     'call',
     '<bpmn:multiInstanceLoopCharacteristics svc:collection="orders"/>',
     'calledElement="quick" svc:outputKey="answers"',
   )}${userTask('a')}${node('endEvent', 'end')}
   ${flows('start>call call>a a>end')}`,
);
const quick = processFile(
  'quick',
  `${node('startEvent', 'start')}${serviceTask('s', [
    { name: 'answer', keys: '*', inner: '<svc:data>{"result":"${item}"}</svc:data>' },
  ])}${node('endEvent', 'end')}${flows('start>s s>end')}`,
);
const lost = processFile(
  'lost',
  `${node('startEvent', 'start')}${node('callActivity', 'call', '', 'calledElement="fails"')}${userTask('a')}${node('endEvent', 'end')}
   ${flows('start>call call>a a>end')}`,
);
const fails = processFile(
  'fails',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'g')}${node('endEvent', 'x')}${node('endEvent', 'y')}
   ${flows('start>g g>x[amount > 1] g>y[amount <= 1]')}`,
);

describe('background work of processes', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.start({
      'jobLimits.pollMs': '20',
      'processLimits.callDepth': '2',
      'processLimits.nodesPerStep': '10',
    });
    published = await publish(app, {
      bpmn: [
        timer,
        boundaryOf('boundary', 'PT1S'),
        boundaryOf('patient_boundary', 'PT1H'),
        delayed,
        expiringOf('expiring', 'PT1S'),
        expiringOf('long_lived', 'PT1H'),
        longWay,
        receiver,
        sender,
        caller,
        taskProcess('child', userTask('c')),
        many,
        quick,
        lost,
        fails,
      ],
    });
  });
  afterAll(() => app.close());

  const ended = (uuid: string) =>
    eventually(
      () => stateOf(app, uuid),
      (state) => state !== 'STARTED',
    );
  const enteredNodes = async (id: number): Promise<string[]> => {
    const trail = await eventRows(app, id);
    return trail
      .filter(({ kind }) => kind === 'NODE_ENTERED')
      .map(({ data, node: at }) => `${at} ${data === null ? '' : JSON.stringify(data)}`);
  };

  it('continues when a timer is due', async () => {
    const { uuid, instanceMetadata, token } = await started(app, published, 'timer');
    const id = instanceMetadata.processInstanceId;
    expect(token.statusCurrentNode).toBe('WAITING_TIMER_EVENT');

    const [row] = await eventually(
      () => tokenRows(app, id),
      (rows) => rows[0]?.status !== 'WAITING_TIMER_EVENT',
    );
    expect(row).toMatchObject({ uuid: token.uuid, state: 'ACTIVE' });
    await executed(app, uuid, token.uuid, ui('a'));
    expect(await stateOf(app, uuid)).toBe('FINISHED');
    expect(await enteredNodes(id)).not.toEqual([]);
  });

  it('interrupts an activity by a boundary timer, and removes the timer when the token leaves in time', async () => {
    const inTime = await started(app, published, 'patient_boundary');
    expect(await jobRows(app, inTime.instanceMetadata.processInstanceId)).toHaveLength(1);
    await executed(app, inTime.uuid, inTime.token.uuid, ui('a'));
    expect(await jobRows(app, inTime.instanceMetadata.processInstanceId)).toEqual([]);
    expect(await stateOf(app, inTime.uuid)).toBe('FINISHED');

    const late = await started(app, published, 'boundary');
    const rows = await eventually(
      () => tokenRows(app, late.instanceMetadata.processInstanceId),
      (tokens) => tokens.some(({ visit, live }) => live && visit > 2) || tokens.length > 1,
    );
    const active = rows.find(({ live }) => live);
    await executed(app, late.uuid, active?.uuid ?? '', ui('b'));
    expect(await stateOf(app, late.uuid)).toBe('FINISHED');
  });

  it('runs an automatic action after its delay', async () => {
    const { uuid } = await started(app, published, 'delayed');

    expect(await ended(uuid)).toBe('FINISHED');
    expect((await instanceRow(app, uuid)).content.data).toEqual({ done: true });
  });

  it('ends an instance that has expired, but not one that has finished before', async () => {
    const inTime = await started(app, published, 'long_lived');
    await executed(app, inTime.uuid, inTime.token.uuid, ui('a'));
    const late = await started(app, published, 'expiring');

    expect(await jobRows(app, inTime.instanceMetadata.processInstanceId)).toEqual([]);
    expect(await ended(late.uuid)).toBe('EXPIRED');
    expect(await tokenRows(app, late.instanceMetadata.processInstanceId)).toMatchObject([
      { state: 'EXPIRED', live: false },
    ]);
    expect(await stateOf(app, inTime.uuid)).toBe('FINISHED');
  });

  it('continues in another step when one has many nodes', async () => {
    const { instanceMetadata, uuid, state } = await started(app, published, 'long_way', { n: 0 });

    expect(state).toBe('STARTED');
    expect(await ended(uuid)).toBe('FINISHED');
    expect(await instanceRow(app, uuid)).toMatchObject({ content: { data: { n: 30 } } });
    const events = await eventRows(app, instanceMetadata.processInstanceId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  describe('messages', () => {
    it('reach the token that has waited longest, once', async () => {
      const first = await started(app, published, 'receiver', { order: 'A' });
      const second = await started(app, published, 'receiver', { order: 'A' });
      const other = await started(app, published, 'receiver', { order: 'B' });
      await started(app, published, 'sender', { order: 'A', amount: 7 });

      const data = await eventually(
        async () => (await instanceRow(app, first.uuid)).content.data,
        ({ amount }) => amount !== undefined,
      );
      expect(data).toEqual({ order: 'A', amount: 7 });
      for (const { uuid } of [second, other]) {
        expect((await instanceRow(app, uuid)).content.data).not.toHaveProperty('amount');
      }
    });

    it('are kept for a token that begins to wait later', async () => {
      const { uuid: sent } = await started(app, published, 'sender', { order: 'C', amount: 9 });
      await ended(sent);
      await new Promise((resolve) => setTimeout(resolve, 200));
      const { uuid } = await started(app, published, 'receiver', { order: 'C' });

      const data = await eventually(
        async () => (await instanceRow(app, uuid)).content.data,
        ({ amount }) => amount !== undefined,
      );
      expect(data).toEqual({ order: 'C', amount: 9 });
    });
  });

  describe('called processes', () => {
    it('run in parallel with their caller and return their result', async () => {
      const parent = await started(app, published, 'caller', { amount: 3 });
      const [child] = await eventually(
        () => childRows(app, parent.uuid),
        (rows) => rows.length === 1,
      );
      expect(child).toMatchObject({
        processName: 'child',
        depth: 1,
        parentAppId: published.appId,
        rootAppId: published.appId,
        platform: 'web',
      });
      const [token] = await tokenRows(app, child?.id ?? 0);
      await executed(app, child?.uuid ?? '', token?.uuid ?? '', ui('c'), { result: { ok: true } });

      const data = await eventually(
        async () => (await instanceRow(app, parent.uuid)).content.data,
        ({ answer }) => answer !== undefined,
      );
      expect(data['answer']).toEqual({ ok: true });
      await executed(app, parent.uuid, parent.token.uuid, ui('a'));
      expect(await stateOf(app, parent.uuid)).toBe('FINISHED');
    });

    it.each([
      [[], []],
      [['x'], ['x']],
      [
        ['x', 'y', 'z'],
        ['x', 'y', 'z'],
      ],
    ])('run once for each element of %j and collect their results in order', async (orders, answers) => {
      const { uuid } = await started(app, published, 'many', { orders });
      const data = await eventually(
        async () => (await instanceRow(app, uuid)).content.data,
        (now) => now['answers'] !== undefined || orders.length === 0,
      );

      expect(data['answers'] ?? []).toEqual(answers);
      expect(await childRows(app, uuid)).toHaveLength(orders.length);
    });

    it('cause an incident in their caller if they cannot start', async () => {
      const { uuid, instanceMetadata, token } = await started(app, published, 'lost', { amount: 'many' });
      const [incident] = await eventually(
        () => incidentRows(app, instanceMetadata.processInstanceId),
        (rows) => rows.length > 0,
      );

      expect(incident).toMatchObject({ state: 'OPEN', source: 'SUBPROCESS', tokenId: token.id });
      expect(await stateOf(app, uuid)).toBe('STARTED');
      // A remaining instance could be retried separately, without its caller.
      expect(
        await app.dataSource.getRepository(ProcessInstanceEntity).findBy({ processName: 'fails' }),
      ).toEqual([]);
    });
  });
});
