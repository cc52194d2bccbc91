import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditAction } from '../../../src/audit/model/audit.types.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { flows, node, processFile, serviceTask, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published, sequence, workflowOf } from '../../support/runtime/publish.js';
import {
  eventually,
  instancePath,
  start,
  started,
  type StartBody,
} from '../../support/runtime/runtime-client.js';
import { eventRows, incidentRows, instanceRow, stateOf } from '../../support/runtime/runtime-rows.js';
import { auditRows } from '../systems/rows.js';

const RUN = serviceTask('score', [{ name: 'run', kind: 'startWorkflow', workflow: 'picking' }]);
const scoring = processFile(
  'scoring',
  `${node('startEvent', 'start')}${RUN}${userTask('a')}${node('endEvent', 'end')}${flows('start>score score>a a>end')}`,
);
const picky = processFile(
  'picky',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'g')}${userTask('a')}${node('endEvent', 'x')}${node('endEvent', 'y')}
   ${flows('start>g g>a[amount > 1] g>y[amount <= 1] a>x')}`,
);
const downstream = processFile(
  'downstream',
  `${node('startEvent', 'start')}${RUN}${node('exclusiveGateway', 'g')}${userTask('a')}${node('endEvent', 'x')}${node('endEvent', 'y')}
   ${flows('start>score score>g g>a[amount > limits.least] g>y[amount <= limits.least] a>x')}`,
);
const calling = processFile(
  'calling',
  `${node('startEvent', 'start')}${node('callActivity', 'call', '', 'calledElement="picky"')}${node('endEvent', 'end')}
   ${flows('start>call call>end')}`,
);
/** Fails unless `amount` is a number above 1. */
const picking = workflowOf('picking', [
  {
    id: 'pick',
    type: 'CONDITION',
    conditions: [{ id: 'c', expression: 'amount > 1', nextNodeId: 'end', order: 1, isDefault: false }],
    outgoingSequences: [sequence('pick', 'end')],
  },
]);
const TOO_LONG = 'x'.repeat(4_000);

let app: TestApp;
let published: Published;

beforeAll(async () => {
  app = await TestApp.start({
    'jobLimits.pollMs': '20',
    'jobLimits.retryBaseMs': '20',
    'dataLimits.bytes': '4096',
  });
  published = await publish(app, {
    bpmn: [scoring, picky, downstream, calling],
    package: { workflows: [picking] },
  });
});
afterAll(() => app.close());

const retry = (uuid: string, tokenUuid: string | null, body: unknown, token?: string | null) =>
  app.request('POST', `${instancePath(uuid)}${tokenUuid === null ? '' : `/token/${tokenUuid}`}/retry`, {
    body,
    ...(token === undefined ? {} : { token }),
  });

/** Starts an instance whose workflow fails. */
async function stopped(data: Record<string, unknown>): Promise<StartBody & { token: { uuid: string } }> {
  const instance = await started(app, published, 'scoring', data);
  await eventually(
    () => incidentRows(app, instance.instanceMetadata.processInstanceId),
    (rows) => rows.some(({ state }) => state === 'OPEN'),
  );
  return instance;
}

const dataOf = async (uuid: string): Promise<unknown> => (await instanceRow(app, uuid)).content.data;

describe('POST …/token/{tokenUuid}/retry with data', () => {
  it('reuses the result of a workflow if the process stopped after it', async () => {
    const { uuid, token, instanceMetadata } = await started(app, published, 'downstream', { amount: 5 });
    const { processInstanceId: id } = instanceMetadata;
    const open = () => incidentRows(app, id).then((rows) => rows.filter(({ state }) => state === 'OPEN'));
    const [incident] = await eventually(open, (rows) => rows.length === 1);
    expect(incident).toMatchObject({ element: 'g', type: 'GATEWAY_EVALUATION' });

    const again = await retry(uuid, token.uuid, {});
    expect(again.status).toBe(200);
    await eventually(open, (rows) => rows.length === 1);
    expect((await retry(uuid, token.uuid, { data: { limits: { least: 1 } } })).status).toBe(200);
    await eventually(
      () => app.request<{ tokens: { bpmnElementId: string }[] }>('GET', instancePath(uuid)),
      ({ body }) => body.tokens[0]?.bpmnElementId === 'a',
    );
    expect(await open()).toEqual([]);
    const runs = await app.dataSource.query<unknown[]>(
      'SELECT id FROM workflow_runs WHERE process_instance_uuid = ?',
      [uuid],
    );
    expect(runs).toHaveLength(1);
  });

  it('corrects the data with a merge patch and reruns the work with it', async () => {
    const { uuid, token, instanceMetadata } = await stopped({
      amount: 'many',
      client: { name: 'Ada', nickname: 'A', tags: [1, 2] },
      note: 'old',
    });
    const id = instanceMetadata.processInstanceId;
    const patch = { amount: 7, client: { nickname: null, tags: [{ a: null }] }, note: null };
    const { status } = await retry(uuid, token.uuid, { data: patch });

    expect(status).toBe(200);
    expect(await dataOf(uuid)).toEqual({ amount: 7, client: { name: 'Ada', tags: [{ a: null }] } });
    await eventually(
      () => app.request<{ tokens: { bpmnElementId: string }[] }>('GET', instancePath(uuid)),
      ({ body }) => body.tokens[0]?.bpmnElementId === 'a',
    );
    expect(await incidentRows(app, id)).toMatchObject([{ state: 'RETRIED' }]);
    expect(await eventRows(app, id)).toContainEqual(
      expect.objectContaining({
        kind: 'DATA_CHANGED',
        actor: 'jane.doe',
        data: { members: ['amount', 'client', 'note'] },
      }),
    );
    const audit = await eventually(
      async () =>
        (await auditRows(app, published)).filter(({ action }) => action === AuditAction.ProcessRetry),
      (rows) => rows.length > 0,
    );
    expect(audit.at(-1)).toMatchObject({
      outcome: 'ok',
      details: { processInstanceUuid: uuid, changedData: ['amount', 'client', 'note'] },
    });
    expect(JSON.stringify(audit)).not.toMatch(/"Ada/);
  });

  it('changes nothing if the retry is refused', async () => {
    const { uuid, token } = await stopped({ amount: 'many' });
    const large = await retry(uuid, token.uuid, { data: { text: TOO_LONG, more: TOO_LONG } });
    expect(large).toMatchObject({
      status: 400,
      body: { message: 'The process data would become too large.' },
    });
    await app.request('POST', `${instancePath(uuid)}/hold`);
    expect((await retry(uuid, token.uuid, { data: { amount: 7 } })).status).toBe(409);
    expect(await dataOf(uuid)).toEqual({ amount: 'many' });
  });

  it('answers 401, 403, 404, 400 and 409', async () => {
    const { uuid, token } = await stopped({ amount: 'many' });
    const none = await app.tokenWith({ sub: 'jack', scope: 'openid' });
    const good = { data: { amount: 7 } };
    expect((await retry(uuid, token.uuid, good, null)).status).toBe(401);
    expect((await retry(uuid, token.uuid, good, none)).status).toBe(403);
    expect((await retry(uuid, '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b99', good)).status).toBe(404);
    const deep = JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`) as unknown;
    const bad: [unknown, string][] = [
      [{ data: [] }, 'data: must be an object'],
      [{ data: null }, 'data: must be an object'],
      [{ data: 'x' }, 'data: must be an object'],
      [{ amount: 7 }, 'amount: is not a known field'],
    ];
    for (const [body, details] of bad) {
      expect(await retry(uuid, token.uuid, body)).toMatchObject({ status: 400, body: { details } });
    }
    expect((await retry(uuid, token.uuid, { data: deep })).status).toBe(400);
    const hostile = '{"data": {"__proto__": {"a": 1}}}';
    const path = `${instancePath(uuid)}/token/${token.uuid}/retry`;
    const rounded = { rawBody: '{"data":{"amount":3544790567247868102}}' };
    expect((await app.request('POST', path, rounded)).body['details']).toContain(
      'data.amount: is a number too large',
    );
    expect((await app.request('POST', path, { rawBody: hostile })).status).toBe(400);
    expect(await dataOf(uuid)).toEqual({ amount: 'many' });

    const running = await started(app, published, 'picky', { amount: 7 });
    expect((await retry(running.uuid, running.token.uuid, good)).status).toBe(409);
    expect(await dataOf(running.uuid)).toEqual({ amount: 7 });
  });

  it('accepts no body or an empty one', async () => {
    const { uuid, token } = await stopped({ amount: 'many' });
    expect((await retry(uuid, token.uuid, undefined)).status).toBe(200);
    const other = await stopped({ amount: 'many' });
    expect((await retry(other.uuid, other.token.uuid, {})).status).toBe(200);
    expect(await dataOf(uuid)).toEqual({ amount: 'many' });
  });
});

describe('POST …/{uuid}/retry with data', () => {
  it('starts an instance that stopped immediately with corrected data', async () => {
    const { status, body } = await start(app, published, 'picky', { amount: 'many', kept: 1 });
    expect(status).toBe(409);
    const uuid = body.incident?.processInstanceUuid ?? '';
    const again: TestResponse = await retry(uuid, null, { data: { amount: [] } });
    expect(again.status).toBe(409);
    expect(await dataOf(uuid)).toEqual({ amount: 'many', kept: 1 });

    expect((await retry(uuid, null, { data: { amount: 7 } })).status).toBe(200);
    expect(await dataOf(uuid)).toEqual({ amount: 7, kept: 1 });
    expect(await stateOf(app, uuid)).toBe('STARTED');
  });

  it('closes the incident as retried if the instance ends with the retry', async () => {
    const uuid = (await start(app, published, 'picky', { amount: 'many' })).body.incident
      ?.processInstanceUuid;
    const { body } = await retry(uuid ?? '', null, { data: { amount: 1 } });
    const [incident] = (body as { retriedIncidents: string[] }).retriedIncidents;
    expect(body).toMatchObject({ uuid, state: 'FINISHED', retriedIncidents: [expect.any(String)] });

    const { id } = await instanceRow(app, uuid ?? '');
    expect(await incidentRows(app, id)).toMatchObject([{ uuid: incident, state: 'RETRIED', job: null }]);
    const closings = (await eventRows(app, id)).filter(({ kind }) => kind === 'INCIDENT_CLOSED');
    expect(closings).toMatchObject([{ actor: 'jane.doe', data: { incident, state: 'RETRIED' } }]);
    const inbox = '/rtm/api/runtime/process-incident?state=RETRIED&processDefinitionName=picky';
    const listed = await app.request<{ incidents: { uuid: string }[] }>('GET', inbox);
    expect(listed.body.incidents.map((one) => one.uuid)).toContain(incident);
  });
});

describe('a retry of a call with data', () => {
  it('calls with the corrected data', async () => {
    const { uuid, token, instanceMetadata } = await started(app, published, 'calling', { amount: 'many' });
    const id = instanceMetadata.processInstanceId;
    await eventually(
      () => incidentRows(app, id),
      (rows) => rows.length === 1,
    );
    expect((await retry(uuid, token.uuid, { data: { amount: 1 } })).status).toBe(200);
    await eventually(
      () => stateOf(app, uuid),
      (state) => state === 'FINISHED',
    );
  });
});
