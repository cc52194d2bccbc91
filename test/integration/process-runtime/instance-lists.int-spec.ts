import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INSTANCE_STATES } from '#engine/tokens';
import type { HistoryPageDto } from '../../../src/runtime/reading/instance-history.dto.js';
import type { InstancePageDto } from '../../../src/runtime/reading/instance.response.dto.js';
import { TestApp } from '../../support/app.js';
import { plansOf } from '../../support/databases/query-plans.js';
import { taskProcess, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { instancePath, start, started } from '../../support/runtime/runtime-client.js';

const PATH = '/rtm/api/runtime/process-instance';
const isEmbedded = String(process.env['DATABASE_URL']).startsWith('sqlite:');

let app: TestApp;
let published: Published;
let ids: string[];

const list = (query: Record<string, string>, token?: string | null) =>
  app.request<InstancePageDto>(
    'GET',
    `${PATH}?${new URLSearchParams(query).toString()}`,
    token === undefined ? {} : { token },
  );
const listed = async (query: Record<string, string>, token?: string): Promise<string[]> =>
  (await list({ applicationId: published.appId, ...query }, token)).body.instances.map((one) => one.uuid);

beforeAll(async () => {
  app = await TestApp.start({ JOBS_CONCURRENCY: '0' });
  published = await publish(app, {
    bpmn: [taskProcess('plain', userTask('a')), taskProcess('other', userTask('a')), taskProcess('short')],
  });
  ids = [];
  for (const name of ['plain', 'other', 'short', 'plain', 'plain']) {
    ids.unshift((await start(app, published, name, {})).body.uuid);
    // UUIDs of the same millisecond have no defined order.
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  await app.request('POST', `${instancePath(ids[0] ?? '')}/hold`);
});
afterAll(() => app.close());

describe('GET /rtm/api/runtime/process-instance', () => {
  it('lists instances, newest first', async () => {
    const { status, body } = await list({ applicationId: published.appId });

    expect(status).toBe(200);
    expect(body.instances.map((one) => one.uuid)).toEqual(ids);
    expect(body.next).toBeNull();
    expect(body.instances[2]).toMatchObject({ processDefinitionName: 'short', state: 'FINISHED' });
    expect(body.instances[2]).not.toHaveProperty('data');
  });

  it('returns every instance across pages', async () => {
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const query: Record<string, string> = next === '' ? {} : { before: next };
      const { body } = await list({ applicationId: published.appId, limit: '2', ...query });
      expect(body.instances.length).toBeLessThanOrEqual(2);
      seen.push(...body.instances.map((one) => one.uuid));
      next = body.next;
    }
    expect(seen).toEqual(ids);
  });

  it('filters by name and state', async () => {
    expect(await listed({ processDefinitionName: 'plain' })).toEqual([ids[0], ids[1], ids[4]]);
    expect(await listed({ state: 'FINISHED' })).toEqual([ids[2]]);
    expect(await listed({ state: 'STARTED', processDefinitionName: 'plain' })).toEqual([ids[1], ids[4]]);
    for (const state of ['ONHOLD', 'ON_HOLD', 'ON HOLD']) {
      expect(await listed({ state })).toEqual([ids[0]]);
    }
    expect(await listed({ parentProcessInstanceUuid: ids[0] ?? '' })).toEqual([]);
  });

  it('filters by the time of the start', async () => {
    const { body } = await list({ applicationId: published.appId });
    const from = String(body.instances[1]?.startedAt);
    const to = String(body.instances[0]?.startedAt);

    expect(await listed({ from })).toEqual(ids.slice(0, 2));
    expect(await listed({ to })).toEqual(ids.slice(1));
    expect(await listed({ from, to })).toEqual([ids[1]]);
  });

  it('lists only their own instances to callers without the permission', async () => {
    const john = await app.tokenWith({ sub: 'john', scope: 'openid' });
    const { body } = await start(app, published, 'plain', {}, { token: john });

    expect(await listed({}, john)).toEqual([body.uuid]);
    expect(await listed({ state: 'FINISHED' }, john)).toEqual([]);
    ids.unshift(body.uuid);
  });

  // Database servers choose an index by row counts. SQLite decides by the statement alone, so its plan is stable.
  it.runIf(isEmbedded).each([
    ['app_state', { applicationId: 'some' }],
    ['app_name_state', { applicationId: 'some', processDefinitionName: 'plain' }],
    ['name_state', { processDefinitionName: 'plain', state: 'FAILED' }],
    ['starter_state', { state: 'FAILED' }],
  ])('uses the index %s for each state', async (index, query) => {
    const token =
      index === 'starter_state' ? await app.tokenWith({ sub: 'jill', scope: 'openid' }) : undefined;
    const plans = await plansOf(app, 'process_instances', () => list(query, token));

    expect(plans).toHaveLength(Object.hasOwn(query, 'state') ? 1 : INSTANCE_STATES.length);
    for (const plan of plans) {
      expect(plan).toContain(`ix_process_instances_${index}`);
    }
  });

  it('answers 401 and 400', async () => {
    expect((await list({}, null)).status).toBe(401);
    const bad = [
      { state: 'RUNNING' },
      { limit: '0' },
      { limit: '201' },
      { before: 'x' },
      { from: 'yesterday' },
      { to: '1' },
      { startedFrom: '2026-01-31T00:00:00Z' },
      { applicationId: 'a b' },
      { processDefinitionName: 'a/b' },
      { parentProcessInstanceUuid: '7' },
    ];
    for (const query of bad) {
      expect({ query, status: (await list(query)).status }).toEqual({ query, status: 400 });
    }
  });
});

describe('GET /rtm/api/runtime/process-instance/{uuid}/history', () => {
  const history = (id: string, query = '', token?: string | null) =>
    app.request<HistoryPageDto & { message: string }>(
      'GET',
      `${instancePath(id)}/history${query}`,
      token === undefined ? {} : { token },
    );

  it('pages through the history in both directions', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const all = (await history(id)).body.events.map(({ seq }) => seq);
    expect(all).toEqual(all.map((_, index) => all.length - index));

    for (const [name, from, expected] of [
      ['before', all.length + 1, all],
      ['after', 0, all.toReversed()],
    ] as const) {
      const seen: number[] = [];
      for (let next: number | null = from; next !== null;) {
        const { body }: { body: HistoryPageDto } = await history(id, `?limit=2&${name}=${next}`);
        seen.push(...body.events.map(({ seq }) => seq));
        next = body.next;
      }
      expect(seen).toEqual(expected);
    }
  });

  it('names tokens and nodes as the instance does', async () => {
    const { uuid: id, token } = await started(app, published, 'plain', {});
    const { body } = await history(id);

    expect(body.events).toContainEqual(
      expect.objectContaining({ tokenUuid: token.uuid, nodeId: token.currentNodeId, bpmnElementId: 'a' }),
    );
  });

  it('answers 401, 403, 404 and 400 in this order', async () => {
    const john = await app.tokenWith({ sub: 'jack', scope: 'openid' });
    expect((await history(uuid(), '?limit=x', null)).status).toBe(401);
    expect((await history(ids.at(-1) ?? '', '?limit=x', john)).status).toBe(403);
    expect((await history(uuid(), '?limit=x')).status).toBe(404);
    for (const query of ['?limit=x', '?before=0', '?after=-1', '?before=3&after=1']) {
      expect({ query, status: (await history(ids.at(-1) ?? '', query)).status }).toEqual({
        query,
        status: 400,
      });
    }
  });
});
