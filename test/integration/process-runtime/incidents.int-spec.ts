import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shardOf } from '../../../src/store/shards.js';
import type { ParkedJob } from '../../../src/runtime/storage/process-instance.entity.js';
import { ProcessIncidentEntity } from '../../../src/runtime/storage/process-incident.entity.js';
import { statementsOf } from '../../support/databases/query-plans.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { flows, node, processFile, serviceTask, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import {
  eventually,
  execute,
  executed,
  instancePath,
  started,
} from '../../support/runtime/runtime-client.js';
import {
  childRows,
  eventRows,
  incidentRows,
  instanceRow,
  jobRows,
} from '../../support/runtime/runtime-rows.js';

/** Stops with an incident if `amount` is not a number. */
const picky = processFile(
  'picky',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'g')}${node('endEvent', 'x')}${node('endEvent', 'y')}
   ${flows('start>g g>x[amount > 1] g>y[amount <= 1]')}`,
);
const startsPicky = serviceTask('s', [{ name: 'other', kind: 'startSubprocess', process: 'picky' }]);
const fixing = userTask('fix', {
  actions: [
    { name: 'set', manual: true, repeatable: true, optional: true, keys: '*' },
    { name: 'end', manual: true },
  ],
});
const detached = processFile(
  'detached',
  `${node('startEvent', 'start')}${startsPicky}${fixing}${userTask('a')}${node('endEvent', 'end')}
   ${flows('start>s s>fix fix>a a>end')}`,
);
const finishing = processFile(
  'finishing',
  `${node('startEvent', 'start')}${startsPicky}${node('endEvent', 'end')}${flows('start>s s>end')}`,
);
const many = processFile(
  'many',
  `${node('startEvent', 'start')}
   ${node('callActivity', 'call', '<bpmn:multiInstanceLoopCharacteristics svc:collection="orders"/>', 'calledElement="picky"')}
   ${node('endEvent', 'end')}${flows('start>call call>end')}`,
);
const unawaited = processFile(
  'unawaited',
  `${node('startEvent', 'start')}
   ${node('callActivity', 'call', '<bpmn:multiInstanceLoopCharacteristics svc:collection="orders"/>', 'calledElement="picky" svc:waits="false"')}
   ${fixing}${node('endEvent', 'end')}${flows('start>call call>fix fix>end')}`,
);
const choosing = processFile(
  'choosing',
  `${node('startEvent', 'start')}${userTask('a')}${node('exclusiveGateway', 'choice')}${node('endEvent', 'yes')}${node('endEvent', 'no')}
   ${flows('start>a a>choice choice>yes[amount > 1] choice>no[amount <= 1]')}`,
);
const FILES = [picky, detached, finishing, many, unawaited, choosing];

let app: TestApp;
let published: Published;

const start = (name: string, body: Record<string, unknown>) => started(app, published, name, body);
const operate = (uuid: string, operation: string): Promise<TestResponse> =>
  app.request('POST', `${instancePath(uuid)}/${operation}`, { body: {} });
const incidents = (id: number, count: number) =>
  eventually(
    () => incidentRows(app, id),
    (rows) => rows.length >= count,
  );

async function expectNoGaps(id: number): Promise<void> {
  const events = await eventRows(app, id);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
}

async function useApp(settings: Record<string, string> = {}): Promise<void> {
  app = await TestApp.start({ 'jobLimits.pollMs': '20', 'jobLimits.retryBaseMs': '20', ...settings });
  published = await publish(app, { bpmn: FILES });
}

describe('incidents of fire-and-forget calls', () => {
  beforeAll(() => useApp());
  afterAll(() => app.close());

  it('remain on the instance after the token has moved on, and are retried with the current data', async () => {
    const { uuid, token, instanceMetadata } = await start('detached', { amount: 'many' });
    const id = instanceMetadata.processInstanceId;
    const [incident] = await incidents(id, 1);
    expect(incident).toMatchObject({
      state: 'OPEN',
      source: 'SUBPROCESS',
      tokenId: null,
      actionSvcUuid: expect.any(String),
    });
    const { body } = await app.request<{ incidents: unknown[] }>('GET', instancePath(uuid));
    expect(body.incidents).toMatchObject([{ uuid: incident?.uuid, tokenUuid: null }]);
    expect(await operate(uuid, `token/${token.uuid}/retry`)).toMatchObject({ status: 409 });

    await executed(app, uuid, token.uuid, ui('fix', 'set'), { amount: 7 });
    await executed(app, uuid, token.uuid, ui('fix', 'end'));
    expect(await operate(uuid, 'retry')).toMatchObject({
      status: 200,
      body: { uuid, state: 'STARTED', retriedIncidents: [incident?.uuid] },
    });
    await eventually(
      () => childRows(app, uuid),
      (rows) => rows.length === 1 && rows[0]?.state === 'FINISHED',
    );
    expect(await incidentRows(app, id)).toMatchObject([{ state: 'RETRIED', job: null }]);
    expect(await instanceRow(app, uuid)).toMatchObject({ openIncidents: 0 });
    expect(await operate(uuid, 'retry')).toMatchObject({
      status: 409,
      body: { message: 'The process instance as a whole has no failed work to retry.' },
    });
    await expectNoGaps(id);
  });

  it('remain on an instance that has finished, and can still be retried', async () => {
    const { uuid, instanceMetadata } = await start('finishing', { amount: 'many' });
    const id = instanceMetadata.processInstanceId;
    await incidents(id, 1);
    expect(await instanceRow(app, uuid)).toMatchObject({ state: 'FINISHED', openIncidents: 1 });

    expect(await operate(uuid, 'retry')).toMatchObject({ status: 200, body: { state: 'FINISHED' } });
    expect((await incidents(id, 2)).map(({ state }) => state)).toEqual(['RETRIED', 'OPEN']);
    await expectNoGaps(id);
  });

  it('close when the instance is terminated', async () => {
    const { uuid, instanceMetadata } = await start('detached', { amount: 'many' });
    const id = instanceMetadata.processInstanceId;
    await incidents(id, 1);
    await operate(uuid, 'terminate');

    expect(await incidentRows(app, id)).toMatchObject([{ state: 'RESOLVED', job: null }]);
    expect(await instanceRow(app, uuid)).toMatchObject({ openIncidents: 0 });
    expect((await operate(uuid, 'retry')).status).toBe(409);
    await expectNoGaps(id);
  });

  it('repeat the original call if the current data has no such element', async () => {
    const { uuid, token, instanceMetadata } = await start('unawaited', { amount: 'many', orders: [1, 2] });
    const id = instanceMetadata.processInstanceId;
    await incidents(id, 2);
    await executed(app, uuid, token.uuid, ui('fix', 'set'), { amount: 7, orders: [1] });
    const { status, body } = await operate(uuid, 'retry');

    expect({ status, count: (body['retriedIncidents'] as string[]).length }).toEqual({
      status: 200,
      count: 2,
    });
    await eventually(
      () => childRows(app, uuid),
      (rows) => rows.length === 1 && rows[0]?.state === 'FINISHED',
    );
    const all = await incidents(id, 3);
    expect(all.map(({ state }) => state)).toEqual(['RETRIED', 'RETRIED', 'OPEN']);
  });
});

describe('the identity of an incident', () => {
  beforeAll(() => useApp());
  afterAll(() => app.close());

  it('is that of a piece of work, even if messages are equal', async () => {
    const { uuid, token, instanceMetadata } = await start('many', { amount: 'many', orders: [1, 2, 3] });
    const id = instanceMetadata.processInstanceId;
    const failed = await incidents(id, 3);
    expect(new Set(failed.map(({ message }) => message)).size).toBe(1);

    const { body } = await operate(uuid, `token/${token.uuid}/retry`);
    expect(body['retriedIncidents']).toHaveLength(3);
    expect((await incidents(id, 6)).filter(({ state }) => state === 'OPEN')).toHaveLength(3);
    expect(await instanceRow(app, uuid)).toMatchObject({ openIncidents: 3 });
  });

  it('lets each be retried separately, and the answer lists those that could not be', async () => {
    const { uuid, token, instanceMetadata } = await start('many', { amount: 'many', orders: [1, 2, 3] });
    const id = instanceMetadata.processInstanceId;
    // Children stop in any order.
    const index = String.raw`\"index\":1`;
    const all = await incidents(id, 3);
    const second = all.find((incident) => JSON.stringify(incident.job).includes(index));
    const changed = JSON.stringify(second?.job).replace(index, String.raw`\"index\":9`);
    const job = JSON.parse(changed) as ParkedJob;
    const stored = app.dataSource.getRepository(ProcessIncidentEntity);
    await stored.update({ uuid: second?.uuid ?? '', shard: second?.shard ?? 0 }, { job: job as object });

    const path = `token/${token.uuid}/retry`;
    const message = 'There is nothing to retry: execute the UI action again.';
    const { status, body } = await operate(uuid, path);
    expect({ status, ...body }).toEqual({
      status: 200,
      uuid,
      state: 'STARTED',
      retriedIncidents: all.filter((each) => each !== second).map((each) => each.uuid),
      notRetried: [{ uuid: second?.uuid, message }],
    });
    expect((await stored.findOneByOrFail({ uuid: second?.uuid ?? '' })).state).toBe('OPEN');
    await incidents(id, 5);
    await stored.update({ instanceId: id, shard: shardOf(id), state: 'OPEN' }, { job: job as object });
    expect(await operate(uuid, path)).toMatchObject({ status: 409, body: { message } });
  });

  it('is shared by requests that fail at the same place, with the newest reason', async () => {
    const { uuid, token, instanceMetadata } = await start('choosing', {});
    const id = instanceMetadata.processInstanceId;
    for (const amount of ['x', { of: 1 }, ['y'], null]) {
      expect((await execute(app, uuid, token.uuid, ui('a'), { amount })).status).toBe(409);
    }
    const [incident, ...others] = await incidentRows(app, id);
    expect(others).toEqual([]);
    expect(await instanceRow(app, uuid)).toMatchObject({ openIncidents: 1 });
    const first = await start('choosing', {});
    await execute(app, first.uuid, first.token.uuid, ui('a'), { amount: 'x' });
    const [earlier] = await incidentRows(app, first.instanceMetadata.processInstanceId);
    expect(incident?.message).not.toBe(earlier?.message);
    await expectNoGaps(id);
  });
});

describe('the limit of open incidents', () => {
  beforeAll(() => useApp({ 'processLimits.incidents': '2', 'jobLimits.retryMaxMs': '100' }));
  afterAll(() => app.close());

  it('leaves work that fails beyond it in the queue until incidents are closed', async () => {
    const { uuid, token, instanceMetadata } = await start('many', { amount: 'many', orders: [1, 2, 3] });
    const id = instanceMetadata.processInstanceId;
    await incidents(id, 2);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await incidentRows(app, id)).toHaveLength(2);
    expect(await jobRows(app, id)).toMatchObject([{ kind: 'CALL' }]);

    await operate(uuid, `token/${token.uuid}/retry`);
    await incidents(id, 4);
    expect((await jobRows(app, id)).length + (await incidentRows(app, id)).length).toBe(5);
    await operate(uuid, 'terminate');
    await eventually(
      () => jobRows(app, id),
      (rows) => rows.length === 0,
    );
    expect(await instanceRow(app, uuid)).toMatchObject({ openIncidents: 0 });
  });
});

describe('statements about incidents', () => {
  beforeAll(() => useApp());
  afterAll(() => app.close());

  it('are not sent without an open incident, and never read the work of an incident while tokens move', async () => {
    const asked = async (work: () => Promise<unknown>): Promise<string[]> =>
      (await statementsOf(app, work)).flatMap(({ sql }) => (sql.includes('process_incidents') ? [sql] : []));
    const plain = await start('detached', { amount: 1 });
    const stopped = await start('detached', { amount: 'many' });
    await incidents(stopped.instanceMetadata.processInstanceId, 1);

    expect(await asked(() => executed(app, plain.uuid, plain.token.uuid, ui('fix', 'end')))).toEqual([]);
    const set = await asked(() =>
      executed(app, stopped.uuid, stopped.token.uuid, ui('fix', 'set'), { b: 1 }),
    );
    expect(set).toEqual([]);
    const end = await asked(() => executed(app, stopped.uuid, stopped.token.uuid, ui('fix', 'end')));
    expect(end).toEqual([expect.not.stringMatching(/\bjob\b/)]);
  });
});
