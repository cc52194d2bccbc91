import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Log } from '../../../src/platform/observability/logging/log.js';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
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
import { eventually, executed, instancePath, started } from '../../support/runtime/runtime-client.js';
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
const timer = processFile(
  'timer',
  `${node('startEvent', 'start')}${node('intermediateCatchEvent', 'wait', duration('PT1H'))}${userTask('a')}${node('endEvent', 'end')}
   ${flows('start>wait wait>a a>end')}`,
);
const receiver = processFile(
  'receiver',
  `${node('startEvent', 'start')}
   ${node('intermediateCatchEvent', 'catch', '<bpmn:messageEventDefinition messageRef="M" svc:correlation="order"/>')}
   ${userTask('a')}${node('endEvent', 'end')}${flows('start>catch catch>a a>end')}`,
  { outside: '<bpmn:message id="M" name="paid"/>' },
);
const sender = processFile(
  'sender',
  `${node('startEvent', 'start')}${serviceTask('s', [
    {
      name: 'send',
      kind: 'sendMessage',
      message: 'paid',
      correlation: 'order',
      inner: '<svc:payload>{"paid":true}</svc:payload>',
    },
  ])}${node('endEvent', 'end')}${flows('start>s s>end')}`,
);
const stopsAfterTimer = processFile(
  'stops',
  `${node('startEvent', 'start')}${node('intermediateCatchEvent', 'wait', duration('PT0.1S'))}
   ${node('exclusiveGateway', 'g')}${node('endEvent', 'x')}${node('endEvent', 'y')}
   ${userTask('fix', {
     actions: [
       { name: 'set', manual: true, repeatable: true, optional: true, keys: '*' },
       { name: 'end', manual: true },
     ],
   })}
   ${node('parallelGateway', 'split')}
   ${flows('start>split split>wait split>fix fix>y wait>g g>x[amount > 1] g>y[amount <= 1]')}`,
);
const callsThree = processFile(
  'three',
  `${node('startEvent', 'start')}
   ${node('callActivity', 'call', '<bpmn:multiInstanceLoopCharacteristics svc:collection="orders"/>', 'calledElement="child" svc:outputKey="answers"')}
   ${userTask('a')}${node('endEvent', 'end')}${flows('start>call call>a a>end')}`,
);

describe('operations on processes with work in the background', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.shared({ 'jobLimits.pollMs': '20' });
    published = await publish(app, {
      bpmn: [timer, receiver, sender, stopsAfterTimer, callsThree, taskProcess('child', userTask('c'))],
    });
  });
  afterAll(() => app.close());

  const operate = async (uuid: string, operation: string): Promise<void> => {
    const { status, text } = await app.request('POST', `${instancePath(uuid)}/${operation}`, { body: {} });
    expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
  };
  /** Makes the timer of an instance due now. */
  const elapse = (instanceId: number): Promise<unknown> =>
    app.dataSource.getRepository(RuntimeJobEntity).update({ instanceId }, { availableAt: new Date(0) });
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 600));

  it('postpones a timer while the instance is on hold, and fires it after the release', async () => {
    const { uuid, token, instanceMetadata } = await started(app, published, 'timer');
    const id = instanceMetadata.processInstanceId;
    await operate(uuid, 'hold');
    await elapse(id);
    await eventually(
      () => jobRows(app, id),
      (jobs) => jobs.length === 0,
    );
    expect(await tokenRows(app, id)).toMatchObject([{ status: 'WAITING_TIMER_EVENT' }]);

    await operate(uuid, 'release');
    await eventually(
      () => tokenRows(app, id),
      ([row]) => row?.status !== 'WAITING_TIMER_EVENT',
    );
    await executed(app, uuid, token.uuid, ui('a'));
    expect(await stateOf(app, uuid)).toBe('FINISHED');
  });

  it('keeps a message for an instance on hold until its release, or delivers it to a running one that also waits', async () => {
    const held = await started(app, published, 'receiver', { order: 'H' });
    await operate(held.uuid, 'hold');
    await started(app, published, 'sender', { order: 'H' });
    await pause();
    expect((await instanceRow(app, held.uuid)).content.data).toEqual({ order: 'H' });

    await operate(held.uuid, 'release');
    await eventually(
      () => instanceRow(app, held.uuid),
      ({ content }) => content.data['paid'] === true,
    );
    const waiting = await started(app, published, 'receiver', { order: 'W' });
    const second = await started(app, published, 'receiver', { order: 'W' });
    await operate(waiting.uuid, 'hold');
    await started(app, published, 'sender', { order: 'W' });
    await eventually(
      () => instanceRow(app, second.uuid),
      ({ content }) => content.data['paid'] === true,
    );
  });

  it('logs that several instances wait with the same correlation, and delivers the message to the first', async () => {
    const warn = vi.spyOn(app.nest.get(Log), 'warn');
    const first = await started(app, published, 'receiver', { order: 'S' });
    const second = await started(app, published, 'receiver', { order: 'S' });
    const line = 'several instances wait for one message';
    await eventually(
      () => Promise.resolve(warn.mock.calls),
      (calls) => calls.some(([message]) => message === line),
    );
    expect(warn).toHaveBeenCalledWith(line, {
      app: published.appId,
      message: 'paid',
      first: first.uuid,
      second: second.uuid,
    });
    warn.mockRestore();
    await started(app, published, 'sender', { order: 'S' });
    await eventually(
      () => instanceRow(app, first.uuid),
      ({ content }) => content.data['paid'] === true,
    );
    expect((await instanceRow(app, second.uuid)).content.data).toEqual({ order: 'S' });
  });

  it('discards postponed work when a held instance is terminated', async () => {
    const { uuid, instanceMetadata } = await started(app, published, 'timer');
    const id = instanceMetadata.processInstanceId;
    await operate(uuid, 'hold');
    await elapse(id);
    await eventually(
      () => jobRows(app, id),
      (jobs) => jobs.length === 0,
    );
    await operate(uuid, 'terminate');

    expect(await stateOf(app, uuid)).toBe('TERMINATED');
    expect(await jobRows(app, id)).toEqual([]);
  });

  it('retries a token that stopped after a timer, once the data is corrected', async () => {
    const { uuid, tokens, instanceMetadata } = await started(app, published, 'stops', { amount: 'many' });
    const id = instanceMetadata.processInstanceId;
    const [incident] = await eventually(
      () => incidentRows(app, id),
      (rows) => rows.length === 1,
    );
    const stopped = tokens.find((token) => token.id === incident?.tokenId);
    const fixing = tokens.find(({ currentNodeName }) => currentNodeName === 'fix');
    await operate(uuid, `token/${stopped?.uuid}/retry`);
    await eventually(
      () => incidentRows(app, id),
      (rows) => rows.length === 2,
    );
    await executed(app, uuid, fixing?.uuid ?? '', ui('fix', 'set'), { amount: 7 });
    await operate(uuid, `token/${stopped?.uuid}/retry`);
    await eventually(
      () => tokenRows(app, id),
      (rows) => rows.find(({ uuid: token }) => token === stopped?.uuid)?.live === false,
    );

    expect((await incidentRows(app, id)).map(({ state }) => state)).toEqual(['RETRIED', 'RETRIED']);
    expect((await instanceRow(app, uuid)).openIncidents).toBe(0);
    const events = await eventRows(app, id);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  it('calls a terminated process again, without affecting its siblings', async () => {
    const { uuid, token, instanceMetadata } = await started(app, published, 'three', {
      orders: ['x', 'y', 'z'],
    });
    const first = await eventually(
      () => childRows(app, uuid),
      (rows) => rows.length === 3,
    );
    const second = first.find(({ parentIndex }) => parentIndex === 1);
    await operate(second?.uuid ?? '', 'terminate');
    await eventually(
      () => incidentRows(app, instanceMetadata.processInstanceId),
      (rows) => rows.length === 1,
    );
    const { body } = await app.request<{ incidents: unknown[]; children: unknown[] }>(
      'GET',
      instancePath(uuid),
    );
    expect(body.incidents).toMatchObject([{ childProcessInstanceUuid: second?.uuid }]);
    expect(body.children).toEqual(
      expect.arrayContaining(
        first.map((row) => expect.objectContaining({ uuid: row.uuid, index: row.parentIndex }) as unknown),
      ),
    );
    await operate(uuid, `token/${token.uuid}/retry`);
    const all = await eventually(
      () => childRows(app, uuid),
      (rows) => rows.length === 4,
    );

    expect(all.map(({ parentIndex, state }) => [parentIndex, state])).toEqual(
      expect.arrayContaining([
        [0, 'STARTED'],
        [1, 'TERMINATED'],
        [1, 'STARTED'],
        [2, 'STARTED'],
      ]),
    );
    for (const child of all.filter(({ state }) => state === 'STARTED')) {
      const [childToken] = await tokenRows(app, child.id);
      await executed(app, child.uuid, childToken?.uuid ?? '', ui('c'), { result: child.parentIndex });
    }
    const { content } = await eventually(
      () => instanceRow(app, uuid),
      (row) => row.content.data['answers'] !== undefined,
    );
    expect(content.data['answers']).toEqual([0, 1, 2]);
  });

  it('notifies a held caller of the end of a called process after its release', async () => {
    const { uuid } = await started(app, published, 'three', { orders: ['x'] });
    const [child] = await eventually(
      () => childRows(app, uuid),
      (rows) => rows.length === 1,
    );
    await operate(uuid, 'hold');
    const [childToken] = await tokenRows(app, child?.id ?? 0);
    await executed(app, child?.uuid ?? '', childToken?.uuid ?? '', ui('c'), { result: 'done' });
    await pause();
    expect((await instanceRow(app, uuid)).content.data).not.toHaveProperty('answers');

    await operate(uuid, 'release');
    const { content } = await eventually(
      () => instanceRow(app, uuid),
      (row) => row.content.data['answers'] !== undefined,
    );
    expect(content.data['answers']).toEqual(['done']);
  });

  it('terminates the processes that an instance has called', async () => {
    const { uuid } = await started(app, published, 'three', { orders: ['x', 'y'] });
    await eventually(
      () => childRows(app, uuid),
      (rows) => rows.length === 2,
    );
    await operate(uuid, 'terminate');

    await eventually(
      () => childRows(app, uuid),
      (rows) => rows.every(({ state }) => state === 'TERMINATED'),
    );
    expect(await stateOf(app, uuid)).toBe('TERMINATED');
  });
});
