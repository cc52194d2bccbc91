import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskPageDto } from '../../../src/runtime/reading/tasks.dto.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { plansOf, statementsOf } from '../../support/databases/query-plans.js';
import { uniqueName } from '../../support/factories.js';
import {
  flows,
  node,
  processFile,
  taskProcess,
  timerEvent,
  ui,
  userTask,
} from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { start } from '../../support/runtime/runtime-client.js';

const SCHEMA = { type: 'object', required: ['amount'], properties: { amount: { type: 'number' } } };
const BACK = { actions: [{ name: 'done', manual: true, keys: '*', allowBack: true }] };
const asked = taskProcess(
  'asked',
  userTask('a', {
    uiActions: { done: `<svc:bodySchema><![CDATA[${JSON.stringify(SCHEMA)}]]></svc:bodySchema>` },
  }),
);
const twice = taskProcess('twice', userTask('a', BACK), userTask('b'));
const later = taskProcess(
  'later',
  userTask('a', BACK),
  node('intermediateCatchEvent', 'rest', timerEvent('timeDuration', 'P1D')),
);
const laned = processFile(
  'laned',
  `<bpmn:laneSet id="lanes"><bpmn:lane id="clerks" name="Clerk" svc:execute="clerk">
     <bpmn:flowNodeRef>a</bpmn:flowNodeRef></bpmn:lane></bpmn:laneSet>
   ${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
);

const isEmbedded = String(process.env['DATABASE_URL']).startsWith('sqlite:');

let app: TestApp;
let published: Published;

const list = (
  query: Record<string, string> = {},
  token?: string | null,
): Promise<TestResponse<TaskPageDto>> =>
  app.request<TaskPageDto>(
    'GET',
    `/rtm/api/runtime/task?${new URLSearchParams({ applicationId: published.appId, ...query }).toString()}`,
    token === undefined ? {} : { token },
  );
const tokenOf = (...roles: string[]): Promise<string> =>
  app.tokenWith({ sub: uniqueName('caller'), scope: 'openid', roles });
const startBy = async (token: string, name: string): Promise<string> =>
  (await start(app, published, name, {}, { token })).body.uuid;
const processesOf = ({ body }: TestResponse<TaskPageDto>): string[] =>
  body.tasks.map(({ processInstanceUuid }) => processInstanceUuid);

beforeAll(async () => {
  const rules = {
    'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
    'process-read': [{ claim: 'roles', hasAt: 'reader' }],
    'process-administration': [{ claim: 'roles', hasAt: 'administrator' }],
    actor: [{ claim: 'roles', hasAt: 'actor' }],
    clerk: [{ claim: 'roles', hasAt: 'clerk' }],
  };
  app = await TestApp.start({
    JOBS_CONCURRENCY: '0',
    PERMISSION_RULES: JSON.stringify(rules),
    PROCESS_UI_ACTION_PERMISSION: 'actor',
  });
  published = await publish(app, { bpmn: [asked, twice, later, laned] });
});
afterAll(() => app.close());

describe('GET /rtm/api/runtime/task', () => {
  it('lists waiting tasks for the starter of the instances, newest first', async () => {
    const token = await tokenOf(`actor@${published.appId}`);
    const first = await startBy(token, 'asked');
    const second = await startBy(token, 'twice');

    const page = await list({}, token);
    expect(page.status).toBe(200);
    expect(processesOf(page)).toEqual([second, first]);
    expect(page.body.next).toBeNull();
    expect(page.body.tasks[1]).toEqual({
      processInstanceUuid: first,
      applicationId: published.appId,
      processDefinitionName: 'asked',
      startedAt: expect.any(String) as string,
      tokenUuid: expect.any(String) as string,
      visit: 2,
      nodeName: 'a',
      bpmnElementId: 'a',
      lane: null,
      waitsSince: expect.any(String) as string,
      uiActions: [{ svcUuid: ui('a'), name: 'done', back: false, bodySchema: SCHEMA }],
    });
  });

  it('lists the next task and the back action after an action', async () => {
    const token = await tokenOf(`actor@${published.appId}`);
    const id = await startBy(token, 'twice');
    const [before] = (await list({ processInstanceUuid: id }, token)).body.tasks;
    const answer = await app.request(
      'POST',
      `/onboarding/api/runtime/process/${id}/token/${before?.tokenUuid}/ui-action/${ui('a')}/context/main/execute`,
      { token, body: {} },
    );
    expect(answer.status).toBe(200);

    const [after] = (await list({ processInstanceUuid: id }, token)).body.tasks;
    expect(after).toMatchObject({ bpmnElementId: 'b' });
    expect(after?.uiActions.map(({ name, back }) => [name, back])).toEqual([
      ['done', false],
      ['done', true],
    ]);
  });

  it('lists a token with only a back action for its instance, but not among waiting tasks', async () => {
    const token = await tokenOf(`actor@${published.appId}`);
    const id = await startBy(token, 'later');
    const [before] = (await list({ processInstanceUuid: id }, token)).body.tasks;
    const path = `/onboarding/api/runtime/process/${id}/token/${before?.tokenUuid}/ui-action/${ui('a')}/context/main/execute`;
    expect((await app.request('POST', path, { token, body: {} })).status).toBe(200);

    expect(processesOf(await list({}, token))).not.toContain(id);
    const { tasks } = (await list({ processInstanceUuid: id }, token)).body;
    expect(tasks).toMatchObject([{ bpmnElementId: 'rest', uiActions: [{ name: 'done', back: true }] }]);
    expect(processesOf(await list({ processInstanceUuid: id }, await tokenOf('actor@another')))).toEqual([]);
  });

  it('does not show tasks of other callers, even by uuid', async () => {
    const starter = await tokenOf(`actor@${published.appId}`);
    const id = await startBy(starter, 'asked');
    const reader = await tokenOf(`actor@${published.appId}`, `reader@${published.appId}`);

    expect(processesOf(await list({}, reader))).toEqual([]);
    expect(processesOf(await list({ processInstanceUuid: id }, reader))).toEqual([]);
    expect(processesOf(await list({ processInstanceUuid: id }, starter))).toEqual([id]);
    expect((await list({ processInstanceUuid: uuid() }, starter)).body).toEqual({ tasks: [], next: null });
  });

  it('shows tasks in a lane to callers with a permission of the lane, regardless of the starter', async () => {
    const starter = await tokenOf(`actor@${published.appId}`);
    const id = await startBy(starter, 'laned');
    const clerk = await tokenOf(`actor@${published.appId}`, `clerk@${published.appId}`);
    const clerkElsewhere = await tokenOf('actor@another', 'clerk@another');

    expect((await list({}, clerk)).body.tasks).toMatchObject([{ processInstanceUuid: id, lane: 'Clerk' }]);
    expect(processesOf(await list({}, clerkElsewhere))).not.toContain(id);
    expect(processesOf(await list({ processInstanceUuid: id }, starter))).toEqual([]);
  });

  it.runIf(isEmbedded)(
    'uses an index for instances that the caller started and for each application',
    async () => {
      const token = await tokenOf('actor@one', 'actor@two');
      const all = '/rtm/api/runtime/task';
      const plans = await plansOf(app, 'process_instances', () => app.request('GET', all, { token }));
      expect(plans.map((plan) => /ix_process_instances_(\w+)/.exec(plan)?.[1])).toEqual([
        'starter_state',
        'app_state',
        'app_state',
      ]);
    },
  );

  it('lists each task once across applications and own instances, newest first', async () => {
    const own = await publish(app, { bpmn: [asked] });
    const token = await tokenOf(`actor@${published.appId}`, `actor@${own.appId}`);
    const first = await startBy(token, 'asked');
    await new Promise((resolve) => setTimeout(resolve, 3));
    const { uuid: second } = (await start(app, own, 'asked', {}, { token })).body;
    const page = await app.request<TaskPageDto>('GET', '/rtm/api/runtime/task?limit=200', { token });
    expect(processesOf(page)).toEqual([second, first]);
  });

  it('limits the instances examined per page, and reads a page with three statements', async () => {
    const own = await publish(app, { bpmn: [asked, laned] });
    const token = await tokenOf(`actor@${own.appId}`);
    const ids: string[] = [];
    for (const name of ['asked', 'laned', 'asked']) {
      ids.unshift((await start(app, own, name, {}, { token })).body.uuid);
    }
    const query = { applicationId: own.appId, limit: '2' };
    let first = await list(query, token);
    const sent = await statementsOf(app, async () => {
      first = await list(query, token);
    });
    expect(sent.filter(({ sql }) => sql.includes('process_'))).toHaveLength(3);

    // The task in the lane was examined, but is not for this caller.
    expect(processesOf(first)).toEqual([ids[0]]);
    expect(first.body.next).toBe(ids[1]);
    const last = await list({ ...query, before: first.body.next ?? '' }, token);
    expect(processesOf(last)).toEqual([ids[2]]);
    expect(last.body.next).toBeNull();
  });

  it('ends a page before its limit when the tasks are large, and omits none', async () => {
    const large = { ...SCHEMA, description: 'x'.repeat(60_000) };
    const wide = taskProcess(
      'wide',
      userTask('a', {
        uiActions: { done: `<svc:bodySchema><![CDATA[${JSON.stringify(large)}]]></svc:bodySchema>` },
      }),
    );
    const own = await publish(app, { bpmn: [wide] });
    const token = await tokenOf(`actor@${own.appId}`);
    const ids: string[] = [];
    for (let count = 0; count < 25; count += 1) {
      ids.unshift((await start(app, own, 'wide', {}, { token })).body.uuid);
    }
    const first = await list({ applicationId: own.appId, limit: '100' }, token);
    expect(first.body.tasks.length).toBeGreaterThan(10);
    expect(first.body.tasks.length).toBeLessThan(20);
    const last = await list({ applicationId: own.appId, limit: '100', before: first.body.next ?? '' }, token);
    expect(last.body.next).toBeNull();
    expect([...processesOf(first), ...processesOf(last)]).toEqual(ids);
  });

  it('does not list tasks of an instance on hold', async () => {
    const token = await tokenOf(`actor@${published.appId}`, `administrator@${published.appId}`);
    const id = await startBy(token, 'asked');
    const held = await app.request('POST', `/rtm/api/runtime/process-instance/${id}/hold`, { token });
    expect(held.status).toBe(200);
    expect(processesOf(await list({}, token))).toEqual([]);
    expect(processesOf(await list({ processInstanceUuid: id }, token))).toEqual([]);
  });

  it('answers 401, 403 and 400', async () => {
    const token = await tokenOf(`actor@${published.appId}`);
    expect((await list({}, null)).status).toBe(401);
    expect((await list({}, await tokenOf('nothing'))).status).toBe(403);
    expect((await list({ before: 'no uuid' }, token)).status).toBe(400);
    expect((await list({ limit: '0' }, token)).status).toBe(400);
    expect((await list({ processInstanceUuid: 'none' }, token)).status).toBe(400);
    expect((await list({ processDefinitionName: '<none>' }, token)).status).toBe(400);
  });
});

describe('with PROCESS_UI_ACTION_ACCESS=any-token', () => {
  it('shows tasks outside of restricted lanes to every caller, regardless of the starter', async () => {
    const open = await TestApp.start({ JOBS_CONCURRENCY: '0', PROCESS_UI_ACTION_ACCESS: 'any-token' });
    const own = await publish(open, { bpmn: [asked, laned] });
    const starter = await open.tokenWith({ sub: uniqueName('caller'), scope: 'openid' });
    const other = await open.tokenWith({ sub: uniqueName('caller'), scope: 'openid' });
    const { uuid: id } = (await start(open, own, 'asked', {}, { token: starter })).body;
    await start(open, own, 'laned', {}, { token: starter });

    const query = new URLSearchParams({ applicationId: own.appId });
    const path = `/rtm/api/runtime/task?${query.toString()}`;
    expect(processesOf(await open.request<TaskPageDto>('GET', path, { token: other }))).toEqual([id]);
    await open.close();
  });
});
