import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { execute, executed, instancePath, started } from '../../support/runtime/runtime-client.js';
import {
  eventRows,
  incidentRows,
  instanceRow,
  tokenRows,
  stopWork,
} from '../../support/runtime/runtime-rows.js';

const timed = processFile(
  'timed',
  `${node('startEvent', 'start')}
   ${node(
     'intermediateCatchEvent',
     'wait',
     '<bpmn:timerEventDefinition id="t"><bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT1H</bpmn:timeDuration></bpmn:timerEventDefinition>',
   )}${node('endEvent', 'end')}${flows('start>wait wait>end')}`,
);
const calling = processFile(
  'calling',
  `${node('startEvent', 'start')}${node('callActivity', 'call', '', 'calledElement="plain"')}${node('endEvent', 'end')}
   ${flows('start>call call>end')}`,
);
const choosing = processFile(
  'choosing',
  `${node('startEvent', 'start')}${userTask('a')}${node('exclusiveGateway', 'choice')}${node('endEvent', 'yes')}${node('endEvent', 'no')}
   ${flows('start>a a>choice choice>yes[amount > 1] choice>no[amount <= 1]')}`,
);

let app: TestApp;
let published: Published;

const post = (id: string, operation: string, token?: string | null) =>
  app.request('POST', `${instancePath(id)}/${operation}`, token === undefined ? {} : { token });

const jobsOf = (instanceId: number) =>
  app.dataSource.getRepository(RuntimeJobEntity).find({ where: { instanceId }, order: { id: 'ASC' } });

async function expectNoGaps(instanceId: number, id: string): Promise<void> {
  const events = await eventRows(app, instanceId);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect((await instanceRow(app, id)).seq).toBe(events.length);
}

beforeAll(async () => {
  app = await TestApp.shared({ JOBS_CONCURRENCY: '0' });
  published = await publish(app, {
    bpmn: [taskProcess('plain', userTask('a'), userTask('b')), timed, calling, choosing],
  });
});
afterAll(() => app.close());

describe.each([
  ['POST /rtm/api/runtime/process-instance/{uuid}/hold', 'hold'],
  ['POST /rtm/api/runtime/process-instance/{uuid}/release', 'release'],
  ['POST /rtm/api/runtime/process-instance/{uuid}/terminate', 'terminate'],
  ['POST /rtm/api/runtime/process-instance/{uuid}/retry', 'retry'],
  ['POST /rtm/api/runtime/process-instance/{uuid}/token/{tokenUuid}/retry', `token/${uuid()}/retry`],
])('%s', (_title, operation) => {
  it('answers 401, 403, 404 and 400', async () => {
    const reader = await app.tokenWith({ scope: 'process:read' });
    expect((await post(uuid(), operation, null)).status).toBe(401);
    expect(await post(uuid(), operation, reader)).toMatchObject({
      status: 403,
      body: { message: 'Insufficient permissions to administer processes' },
    });
    expect(await post(uuid(), operation)).toMatchObject({
      status: 404,
      body: { message: 'Process instance not found.' },
    });
    expect((await post('no%20uuid', operation)).status).toBe(400);
  });
});

describe('POST /rtm/api/runtime/process-instance/{uuid}/hold and release', () => {
  it('holds an instance until it is released', async () => {
    const { uuid: id, token, instanceMetadata } = await started(app, published, 'plain', {});

    expect(await post(id, 'hold')).toMatchObject({ status: 200, body: { uuid: id, state: 'ONHOLD' } });
    expect((await execute(app, id, token.uuid, ui('a'), {})).status).toBe(409);
    const held = await app.request<{ tokens: { uiActions: unknown[] }[] }>('GET', instancePath(id));
    expect(held.body.tokens[0]?.uiActions).toEqual([]);
    expect((await post(id, 'hold')).status).toBe(409);

    expect(await post(id, 'release')).toMatchObject({ status: 200, body: { uuid: id, state: 'STARTED' } });
    expect(await post(id, 'release')).toMatchObject({
      status: 409,
      body: { message: 'The process instance is not on hold.' },
    });
    await executed(app, id, token.uuid, ui('a'), {});

    const events = await eventRows(app, instanceMetadata.processInstanceId);
    expect(
      events.filter(({ kind }) => kind === 'INSTANCE_STATE').map(({ actor, data }) => ({ actor, data })),
    ).toEqual([
      { actor: 'jane.doe', data: { from: 'CREATED', to: 'STARTED' } },
      { actor: 'jane.doe', data: { from: 'STARTED', to: 'ONHOLD' } },
      { actor: 'jane.doe', data: { from: 'ONHOLD', to: 'STARTED' } },
    ]);
    await expectNoGaps(instanceMetadata.processInstanceId, id);
  });
});

describe('POST /rtm/api/runtime/process-instance/{uuid}/terminate', () => {
  it('ends a running instance with its tokens and its background work', async () => {
    const { uuid: id, instanceMetadata } = await started(app, published, 'timed', {});
    const operator = await app.tokenWith({ preferred_username: 'olga', scope: 'process:administer' });

    expect(await post(id, 'terminate', operator)).toMatchObject({
      status: 200,
      body: { uuid: id, state: 'TERMINATED' },
    });
    const { processInstanceId } = instanceMetadata;
    expect(await instanceRow(app, id)).toMatchObject({ state: 'TERMINATED', endedAt: expect.any(Date) });
    expect(await tokenRows(app, processInstanceId)).toMatchObject([{ state: 'TERMINATED', live: false }]);
    expect(await jobsOf(processInstanceId)).toEqual([]);
    expect((await eventRows(app, processInstanceId)).at(-1)).toMatchObject({ actor: 'olga' });
    expect(await post(id, 'terminate')).toMatchObject({
      status: 409,
      body: { message: 'The process instance is not running.' },
    });
  });

  it('ends an instance on hold', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    await post(id, 'hold');

    expect((await post(id, 'terminate')).body).toMatchObject({ state: 'TERMINATED' });
  });

  it('ends called processes in the background', async () => {
    const { uuid: id, instanceMetadata } = await started(app, published, 'calling', {});
    await post(id, 'terminate');

    const kinds = (await jobsOf(instanceMetadata.processInstanceId)).map(({ kind }) => kind);
    expect(kinds).toContain('END_CHILDREN');
  });
});

describe('POST /rtm/api/runtime/process-instance/{uuid}/token/{tokenUuid}/retry', () => {
  it('runs stopped work again, and closes the incident', async () => {
    const { uuid: id, token, instanceMetadata } = await started(app, published, 'timed', {});
    const { processInstanceId } = instanceMetadata;
    const incident = await stopWork(app, processInstanceId);
    const { status, body } = await post(id, `token/${token.uuid}/retry`);

    expect({ status, body }).toEqual({
      status: 200,
      body: { uuid: id, state: 'STARTED', retriedIncidents: [incident.uuid] },
    });
    const [job, ...others] = await jobsOf(processInstanceId);
    expect(job).toMatchObject({ kind: 'TIMER', tokenId: token.id });
    expect(others).toEqual([]);
    expect(job?.availableAt.getTime()).toBeLessThanOrEqual(Date.now());
    expect(await incidentRows(app, processInstanceId)).toMatchObject([
      { state: 'RETRIED', closedAt: expect.any(Date) },
    ]);
    expect(await instanceRow(app, id)).toMatchObject({ openIncidents: 0 });
    expect((await eventRows(app, processInstanceId)).slice(-2)).toMatchObject([
      { kind: 'RETRY', actor: 'jane.doe', tokenId: token.id },
      { kind: 'INCIDENT_CLOSED', actor: 'jane.doe' },
    ]);
    await expectNoGaps(processInstanceId, id);
    expect((await post(id, `token/${token.uuid}/retry`)).status).toBe(409);
  });

  it('repeats a call', async () => {
    const { uuid: id, token, instanceMetadata } = await started(app, published, 'calling', {});
    const { processInstanceId } = instanceMetadata;
    const incident = await stopWork(app, processInstanceId);
    const { body } = await post(id, `token/${token.uuid}/retry`);

    expect(body).toMatchObject({ retriedIncidents: [incident.uuid] });
    expect((await jobsOf(processInstanceId)).map(({ kind }) => kind)).toEqual(['CALL']);
    expect(await incidentRows(app, processInstanceId)).toMatchObject([{ state: 'RETRIED' }]);
    await expectNoGaps(processInstanceId, id);
  });

  it('succeeds for one of several concurrent operators', async () => {
    const { uuid: id, token, instanceMetadata } = await started(app, published, 'calling', {});
    await stopWork(app, instanceMetadata.processInstanceId);
    const answers = await Promise.all([1, 2, 3].map(() => post(id, `token/${token.uuid}/retry`)));

    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
    expect(await jobsOf(instanceMetadata.processInstanceId)).toHaveLength(1);
  });

  it('answers 409 when nothing stopped, when a UI action did, and while the instance is on hold', async () => {
    const plain = await started(app, published, 'plain', {});
    expect(await post(plain.uuid, `token/${plain.token.uuid}/retry`)).toMatchObject({
      status: 409,
      body: { message: 'This token has no failed work to retry.' },
    });
    const choosing = await started(app, published, 'choosing', {});
    expect((await execute(app, choosing.uuid, choosing.token.uuid, ui('a'), {})).status).toBe(400);
    expect(await post(choosing.uuid, `token/${choosing.token.uuid}/retry`)).toMatchObject({
      status: 409,
      body: { message: 'There is nothing to retry: execute the UI action again.' },
    });
    const held = await started(app, published, 'timed', {});
    await stopWork(app, held.instanceMetadata.processInstanceId);
    await post(held.uuid, 'hold');
    expect((await post(held.uuid, `token/${held.token.uuid}/retry`)).status).toBe(409);
    expect(await instanceRow(app, held.uuid)).toMatchObject({ openIncidents: 1 });
  });

  it('answers 404 for a token of another instance', async () => {
    const one = await started(app, published, 'plain', {});
    const other = await started(app, published, 'plain', {});
    expect(await post(one.uuid, `token/${other.token.uuid}/retry`)).toMatchObject({
      status: 404,
      body: { message: 'Token not found for this process instance.' },
    });
  });
});
