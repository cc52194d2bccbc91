import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RunnableDefinitionsService } from '../../../src/runtime/definitions/runnable-definitions.service.js';
import type { IncidentCountsDto, IncidentPageDto } from '../../../src/runtime/model/incident-inbox.dto.js';
import type { InstancePageDto } from '../../../src/runtime/reading/instance.response.dto.js';
import { InstanceListsRepository } from '../../../src/runtime/storage/instance-lists.repository.js';
import { TestApp } from '../../support/app.js';
import { plansOf, planOf } from '../../support/databases/query-plans.js';
import { uniqueName } from '../../support/factories.js';
import { flows, node, processFile, serviceTask, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published, sequence, workflowOf } from '../../support/runtime/publish.js';
import { eventually, execute, instancePath, start, started } from '../../support/runtime/runtime-client.js';

const PATH = '/rtm/api/runtime/process-incident';
const isEmbedded = String(process.env['DATABASE_URL']).startsWith('sqlite:');

const picky = processFile(
  'picky',
  `${node('startEvent', 'start')}${userTask('ask')}${node('exclusiveGateway', 'choice')}${node('endEvent', 'x')}${node('endEvent', 'y')}
   ${flows('start>ask ask>choice choice>x[amount > 1] choice>y[amount <= 1]')}`,
);
const scoring = processFile(
  'scoring',
  `${node('startEvent', 'start')}${serviceTask('score', [{ name: 'run', kind: 'startWorkflow', workflow: 'picking' }])}
   ${node('endEvent', 'end')}${flows('start>score score>end')}`,
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

let app: TestApp;
let mine: Published;
let other: Published;
/** Incidents of `mine`, newest first: one of a workflow and two of gateways. */
let uuids: string[];
let causingRequestId: string;

const list = (query: Record<string, string> = {}, token?: string | null) =>
  app.request<IncidentPageDto>(
    'GET',
    `${PATH}?${new URLSearchParams(query).toString()}`,
    token === undefined ? {} : { token },
  );
const counted = (query: Record<string, string> = {}, token?: string | null) =>
  app.request<IncidentCountsDto>(
    'GET',
    `${PATH}/counts?${new URLSearchParams(query).toString()}`,
    token === undefined ? {} : { token },
  );
const listed = async (query: Record<string, string>): Promise<string[]> =>
  (await list({ applicationId: mine.appId, ...query })).body.incidents.map(({ uuid }) => uuid);

/** Stops an instance at the gateway. Returns the id of the incident. */
async function stopped(published: Published): Promise<string> {
  const { uuid, token } = await started(app, published, 'picky', {});
  const { body } = await execute(app, uuid, token.uuid, ui('ask'), { amount: 'many' });
  return body.incident?.uuid ?? '';
}

beforeAll(async () => {
  app = await TestApp.start({
    'jobLimits.pollMs': '20',
    'jobLimits.retryBaseMs': '20',
    'processLimits.incidentCountSeconds': '1',
  });
  const publication = { bpmn: [picky, scoring], package: { workflows: [picking] } };
  mine = await publish(app, publication);
  other = await publish(app, publication);
  await stopped(other);
  uuids = [await stopped(mine), await stopped(mine)].toReversed();
  const scored = await start(app, mine, 'scoring', { amount: 'many' });
  const { uuid } = scored.body;
  causingRequestId = scored.headers.get('x-request-id') ?? '';
  const { body } = await eventually(
    () => list({ applicationId: mine.appId, processDefinitionName: 'scoring' }),
    (page) => page.body.incidents.length === 1,
  );
  expect(body.incidents[0]?.processInstanceUuid).toBe(uuid);
  uuids.unshift(body.incidents[0]?.uuid ?? '');
});
afterAll(() => app.close());

describe('GET /rtm/api/runtime/process-incident', () => {
  it('lists incidents of all instances, newest first, with what failed', async () => {
    const { status, body } = await list({ applicationId: mine.appId });
    expect(status).toBe(200);
    expect(body.incidents.map(({ uuid }) => uuid)).toEqual(uuids);
    expect(body.next).toBeNull();
    const [workflow, gateway] = body.incidents;
    expect(workflow).toMatchObject({
      state: 'OPEN',
      code: 'WORKFLOW',
      source: 'ACTION',
      applicationId: mine.appId,
      buildId: mine.buildId,
      processDefinitionName: 'scoring',
      processInstanceState: 'STARTED',
      bpmnElementId: 'score',
      tokenUuid: expect.any(String),
      workflowError: { code: 'CONDITION_FAILED', node: 'pick' },
      requestId: causingRequestId,
      closedAt: null,
    });
    const run = await app.request('GET', `/rtm/api/runtime/workflow-run/${workflow?.workflowRunId}`);
    expect(run.body).toMatchObject({ workflow: 'picking', state: 'FAILED' });
    expect(gateway).toMatchObject({
      code: 'GATEWAY_EVALUATION',
      bpmnElementId: 'choice',
      workflowRunId: null,
      workflowError: null,
      requestId: expect.any(String),
      raisedAt: gateway?.timestamp,
    });
  });

  it('returns every incident across pages', async () => {
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const { body }: { body: IncidentPageDto } = await list({
        applicationId: mine.appId,
        limit: '1',
        ...(next === '' ? {} : { before: next }),
      });
      seen.push(...body.incidents.map(({ uuid }) => uuid));
      next = body.next;
    }
    expect(seen).toEqual(uuids);
  });

  it('filters by place, kind and time', async () => {
    const { body } = await list({ applicationId: mine.appId });
    const newest = String(body.incidents[0]?.raisedAt);
    expect(await listed({ buildId: mine.buildId })).toEqual(uuids);
    expect(await listed({ buildId: other.buildId })).toEqual([]);
    expect(await listed({ applicationVersionId: mine.versionId })).toEqual(uuids);
    expect(await listed({ applicationVersionId: other.versionId })).toEqual([]);
    expect(await listed({ processDefinitionName: 'picky' })).toEqual(uuids.slice(1));
    expect(await listed({ bpmnElementId: 'score' })).toEqual([uuids[0]]);
    expect(await listed({ code: 'GATEWAY_EVALUATION' })).toEqual(uuids.slice(1));
    expect(await listed({ code: 'GATEWAY_EVALUATION', bpmnElementId: 'score' })).toEqual([]);
    expect(await listed({ from: newest })).toEqual([uuids[0]]);
    expect(await listed({ to: newest })).toEqual(uuids.slice(1));
    expect(await listed({ state: 'RETRIED' })).toEqual([]);
  });

  it('shows how an incident was closed', async () => {
    const uuid = await stopped(other);
    const { body } = await list({ applicationId: other.appId, limit: '1' });
    const [incident] = body.incidents;
    expect(incident?.uuid).toBe(uuid);
    await app.request('POST', `${instancePath(incident?.processInstanceUuid ?? '')}/terminate`);
    const closed = await list({ applicationId: other.appId, state: 'RESOLVED' });
    expect(closed.body.incidents).toMatchObject([
      { uuid, state: 'RESOLVED', processInstanceState: 'TERMINATED', closedAt: expect.any(String) },
    ]);
  });

  it('keeps the position of an incident that recurs', async () => {
    const { uuid, token } = await started(app, other, 'picky', {});
    const first = await execute(app, uuid, token.uuid, ui('ask'), { amount: 'many' });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const again = await execute(app, uuid, token.uuid, ui('ask'), { amount: [] });
    expect(again.body.incident?.uuid).toBe(first.body.incident?.uuid);
    const { body } = await list({ applicationId: other.appId, limit: '1' });
    const [incident] = body.incidents;
    expect(incident?.uuid).toBe(first.body.incident?.uuid);
    expect(new Date(incident?.timestamp ?? '') > new Date(incident?.raisedAt ?? '')).toBe(true);
  });

  it('lists only incidents of applications that the caller may read', async () => {
    const rules = [{ claim: 'roles', hasAt: 'reader' }];
    const limited = await TestApp.start({
      JOBS_CONCURRENCY: '0',
      PERMISSION_RULES: JSON.stringify({ 'process-read': rules }),
    });
    try {
      const token = await limited.tokenWith({ roles: [`reader@${mine.appId}`] });
      const page = await limited.request<IncidentPageDto>('GET', PATH, { token });
      expect(page.body.incidents.map(({ uuid }) => uuid)).toEqual(uuids);
      const { body } = await limited.request<IncidentCountsDto>('GET', `${PATH}/counts`, { token });
      expect(body.counts.map(({ applicationId }) => applicationId)).toEqual([mine.appId, mine.appId]);
      const theirs = `${PATH}?applicationId=${other.appId}`;
      expect((await limited.request<IncidentPageDto>('GET', theirs, { token })).body.incidents).toEqual([]);
    } finally {
      await limited.close();
    }
  });

  it('answers 401, 403 and 400', async () => {
    const none = await app.tokenWith({ sub: 'jack', scope: 'openid' });
    for (const ask of [list, counted]) {
      expect((await ask({}, null)).status).toBe(401);
      expect((await ask({ limit: 'x' }, none)).status).toBe(403);
      const bad = [
        { limit: '0' },
        { limit: '201' },
        { from: 'yesterday' },
        { to: '1' },
        { applicationId: 'a b' },
        { applicationVersionId: 'a b' },
        { buildId: 'a b' },
        { processDefinitionName: 'a/b' },
        { bpmnElementId: '' },
        { code: 'SOMETHING' },
        { unknown: '1' },
      ];
      for (const query of bad) {
        expect({ query, status: (await ask(query)).status }).toEqual({ query, status: 400 });
      }
    }
    expect((await list({ state: 'CLOSED' })).status).toBe(400);
    expect((await list({ before: 'x' })).status).toBe(400);
    expect((await counted({ state: 'OPEN' })).status).toBe(400);
  });

  // Database servers choose an index by row counts. SQLite decides by the statement alone, so its plan is stable.
  it.runIf(isEmbedded).each([
    ['ix_process_incidents_app_state', { applicationId: 'some', state: 'OPEN' }],
    ['ix_process_incidents_state', { state: 'OPEN' }],
  ])('uses the index %s', async (index, query) => {
    const plan = await planOf(app, 'ORDER BY uuid DESC', () => list(query));
    expect(plan.join()).toContain(`USING INDEX ${index}`);
    expect(plan).not.toContain('TEMP B-TREE');
  });
});

describe('GET /rtm/api/runtime/process-incident/counts', () => {
  it('counts open incidents by place and code, most first', async () => {
    const place = { applicationId: mine.appId, processDefinitionName: 'picky' };
    const expected = [
      { ...place, bpmnElementId: 'choice', code: 'GATEWAY_EVALUATION', open: 2 },
      { ...place, processDefinitionName: 'scoring', bpmnElementId: 'score', code: 'WORKFLOW', open: 1 },
    ];
    expect((await counted({ applicationId: mine.appId })).body).toEqual({ counts: expected, complete: true });
    expect((await counted({ applicationId: mine.appId, limit: '1' })).body).toEqual({
      counts: expected.slice(0, 1),
      complete: false,
    });
    expect((await counted({ applicationId: mine.appId, code: 'WORKFLOW' })).body.counts).toEqual(
      expected.slice(1),
    );
    expect((await counted({ applicationId: uniqueName('none') })).body).toEqual({
      counts: [],
      complete: true,
    });
  });
});

describe.skipIf(!isEmbedded)('a query that is not filtered by state', () => {
  it.each([
    [{ code: 'WORKFLOW' }, 'type_state'],
    [{ processDefinitionName: 'picky' }, 'name_state'],
    [{ buildId: 'b' }, 'build_state'],
    [{ bpmnElementId: 'choice' }, 'element_state'],
    [{ applicationId: 'a' }, 'app_state'],
    [{}, 'state'],
  ])('uses an index: %j', async (query: Record<string, string>, index) => {
    const plans = await plansOf(app, 'process_incidents', () => list(query));

    expect(plans).toHaveLength(3);
    for (const plan of plans) {
      expect(plan).toContain(`ix_process_incidents_${index} `);
    }
  });
});

describe('a definition that cannot be loaded', () => {
  it('causes an incident like any other failure of a job', async () => {
    const definitions = app.nest.get(RunnableDefinitionsService);
    vi.spyOn(definitions, 'held').mockReturnValue(undefined);
    vi.spyOn(definitions, 'byId').mockRejectedValue(new Error('a node of a later release'));
    const { uuid } = (await start(app, other, 'scoring', { amount: 2 })).body;
    const { body } = await eventually(
      () => list({ applicationId: other.appId, state: 'OPEN', limit: '1' }),
      ({ body: { incidents } }) => incidents[0]?.processInstanceUuid === uuid,
    );
    expect(body.incidents[0]).toMatchObject({ processDefinitionName: 'scoring', buildId: other.buildId });
    vi.restoreAllMocks();
  });
});

describe('other views of incidents', () => {
  it('include the list of instances, filtered by hasIncidents', async () => {
    const { uuid } = await started(app, mine, 'picky', {});
    const instances = async (hasIncidents: string): Promise<string[]> => {
      const path = `/rtm/api/runtime/process-instance?applicationId=${mine.appId}&hasIncidents=${hasIncidents}`;
      return (await app.request<InstancePageDto>('GET', path)).body.instances.map((one) => one.uuid);
    };
    const { body } = await list({ applicationId: mine.appId });
    expect((await instances('true')).toSorted()).toEqual(
      body.incidents.map((one) => one.processInstanceUuid).toSorted(),
    );
    expect(await instances('false')).toEqual([uuid]);
    const bad = await app.request('GET', '/rtm/api/runtime/process-instance?hasIncidents=yes');
    expect(bad.status).toBe(400);
  });

  it('return the same list if more instances have stopped than are looked up by id', async () => {
    const path = `/rtm/api/runtime/process-instance?hasIncidents=true`;
    const instances = async (more = ''): Promise<string[]> =>
      (await app.request<InstancePageDto>('GET', path + more)).body.instances.map((one) => one.uuid);
    const ofApp = `&applicationId=${mine.appId}`;
    const few = [await instances(), await instances(ofApp), await instances('&state=STARTED')];
    Object.assign(app.nest.get(InstanceListsRepository), { maxStopped: 1 });
    expect([await instances(), await instances(ofApp), await instances('&state=STARTED')]).toEqual(few);
    Object.assign(app.nest.get(InstanceListsRepository), { maxStopped: 5_000 });
    expect(few[1]?.length).toBeGreaterThan(1);
    expect(few[0]?.length).toBeGreaterThan(few[1]?.length ?? 0);
  });

  it('include a metric that one replica counts for all', async () => {
    const open = async (): Promise<number> => {
      const text = await (await fetch(`${app.url}/metrics`)).text();
      return Number(/^svc_process_incidents_open\{type="GATEWAY_EVALUATION"\} (\d+)$/m.exec(text)?.[1]);
    };
    const before = await eventually(open, (count) => count >= 2);
    await stopped(mine);
    await eventually(open, (count) => count > before);
    const rows = await app.dataSource.query<unknown[]>('SELECT id FROM incident_counts');
    expect(rows).toHaveLength(1);
  });
});
