import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { flows, node, processFile, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { executed, instancePath, start } from '../../support/runtime/runtime-client.js';
import { eventRows, incidentRows, instanceRow } from '../../support/runtime/runtime-rows.js';

/** Requires a numeric `amount`, and more tokens than `small` allows. */
const wide = processFile(
  'wide',
  `${node('startEvent', 'start', '', 'svc:startCondition="main"')}${node('startEvent', 'other', '', 'svc:startCondition="other"')}
   ${node('parallelGateway', 'split')}${node('exclusiveGateway', 'g')}${userTask('a')}${node('endEvent', 'x')}
   ${flows('start>x other>split split>a split>g g>a[amount > 999] g>x[amount <= 999] a>x')}`,
  { attributes: 'svc:expiresAfter="PT1H"' },
);

let small: TestApp;
let app: TestApp;
let published: Published;

const post = (uuid: string, operation: string, via = app): Promise<TestResponse> =>
  via.request('POST', `${instancePath(uuid)}/${operation}`);
const stopped = async (amount: unknown): Promise<{ uuid: string; state: string; id: number }> => {
  const { status, body } = await start(small, published, 'wide', { startCondition: 'other', amount });
  const uuid = body.incident?.processInstanceUuid ?? '';
  expect(status).toBe(409);
  const { state, id } = await instanceRow(app, uuid);
  return { uuid, state, id };
};

describe('instances that stop at their start', () => {
  beforeAll(async () => {
    const settings = { JOBS_CONCURRENCY: '0', PROCESS_UI_ACTION_ACCESS: 'any-token' };
    app = await TestApp.start(settings);
    small = await TestApp.start({ ...settings, 'processLimits.liveTokens': '1' });
    published = await publish(app, { bpmn: wide });
  });
  afterAll(async () => {
    await small.close();
    await app.close();
  });

  it('can be terminated', async () => {
    const { uuid, state, id } = await stopped('many');
    expect(state).toBe('CREATED');
    expect((await post(uuid, 'hold')).status).toBe(409);

    expect(await post(uuid, 'terminate')).toMatchObject({ status: 200, body: { uuid, state: 'TERMINATED' } });
    expect(await instanceRow(app, uuid)).toMatchObject({
      state: 'TERMINATED',
      openIncidents: 0,
      endedAt: expect.any(Date),
    });
    expect(await incidentRows(app, id)).toMatchObject([{ state: 'RESOLVED' }]);
    expect((await eventRows(app, id)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect((await post(uuid, 'terminate')).status).toBe(409);
    expect((await post(uuid, 'retry')).status).toBe(409);
  });

  it('can be retried at the same start event with the same data, and expire from then on', async () => {
    const { uuid, state, id } = await stopped(99);
    expect(state).toBe('CREATED');
    const [incident] = await incidentRows(app, id);

    const retried = await Promise.all([post(uuid, 'retry'), post(uuid, 'retry')]);
    expect(new Set(retried.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect(retried.find(({ status }) => status === 200)?.body).toEqual({
      uuid,
      state: 'STARTED',
      retriedIncidents: [incident?.uuid],
    });
    const { body } = await app.request<{ tokens: { uuid: string; bpmnElementId: string }[] }>(
      'GET',
      instancePath(uuid),
    );
    expect(body).toMatchObject({ openIncidents: 0, data: { amount: 99 }, expiresAt: expect.any(String) });
    expect(body.tokens[0]).toMatchObject({ bpmnElementId: 'a', state: 'ACTIVE' });
    const jobs = { instanceId: id };
    expect(await app.dataSource.getRepository(RuntimeJobEntity).findBy(jobs)).toMatchObject([
      { kind: 'EXPIRY' },
    ]);
    await executed(app, uuid, body.tokens[0]?.uuid ?? '', ui('a'));
    expect(await instanceRow(app, uuid)).toMatchObject({ state: 'FINISHED' });
  });

  it('keep their incident when they stop again, with the newest reason', async () => {
    const { uuid, id } = await stopped('many');
    const [before] = await incidentRows(app, id);

    expect(await post(uuid, 'retry')).toMatchObject({
      status: 409,
      body: { incident: { uuid: before?.uuid, processInstanceUuid: uuid } },
    });
    const [after, ...others] = await incidentRows(app, id);
    expect(others).toEqual([]);
    expect(after).toMatchObject({ uuid: before?.uuid, state: 'OPEN' });
    expect(after?.message).not.toBe(before?.message);
    expect(await instanceRow(app, uuid)).toMatchObject({ state: 'CREATED', openIncidents: 1 });
  });
});
