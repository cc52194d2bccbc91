import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProcessStatisticsDto } from '../../../src/runtime/reading/process-statistics.dto.js';
import { ProcessStatisticsService } from '../../../src/runtime/reading/process-statistics.service.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { multiplyRows, planOf, RANDOM_TEXT, statementsOf } from '../../support/databases/query-plans.js';
import { flows, node, processFile, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { execute, executed, instancePath, started } from '../../support/runtime/runtime-client.js';

const isEmbedded = String(process.env['DATABASE_URL']).startsWith('sqlite:');
/** On Vitess, each server returns a plan of its own. */
const isVitess = process.env['TEST_DATABASE'] === 'vitess';
/** Including those for the build, its definition and its file. */
const MAX_STATEMENTS = 6;
const picky = processFile(
  'picky',
  `${node('startEvent', 'start')}${userTask('ask')}${node('exclusiveGateway', 'choice')}${userTask('check')}
   ${node('endEvent', 'x')}${node('endEvent', 'y')}
   ${flows('start>ask ask>choice choice>check[amount > 1] choice>y[amount <= 1] check>x')}`,
);

let app: TestApp;
let published: Published;
let later: Published;

const pathOf = (name: string, { appId, buildId }: Pick<Published, 'appId' | 'buildId'> = published): string =>
  `/rtm/api/runtime/app/${appId}/build/${buildId}/process-name/${name}/statistics`;
const read = (
  query: Record<string, string> = {},
  { path = pathOf('picky'), token }: { path?: string; token?: string | null } = {},
): Promise<TestResponse<ProcessStatisticsDto & { message: string }>> =>
  app.request(
    'GET',
    `${path}?${new URLSearchParams(query).toString()}`,
    token === undefined ? {} : { token },
  );
const elementsOf = ({ body }: TestResponse<ProcessStatisticsDto>) =>
  Object.fromEntries(body.elements.map(({ bpmnElementId, ...figures }) => [bpmnElementId, figures]));
const limited = async <T>(overrides: object, work: () => Promise<T>): Promise<T> => {
  const service = app.nest.get<ProcessStatisticsService, { limits: object }>(ProcessStatisticsService);
  const before = service.limits;
  service.limits = { ...before, ...overrides };
  try {
    return await work();
  } finally {
    service.limits = before;
  }
};

beforeAll(async () => {
  app = await TestApp.start({ JOBS_CONCURRENCY: '0' });
  published = await publish(app, { bpmn: picky });
  later = await publish(app, { appId: published.appId, bpmn: picky });
  const [, second, third, fourth, fifth] = [
    await started(app, published, 'picky', {}),
    await started(app, published, 'picky', {}),
    await started(app, published, 'picky', {}),
    await started(app, published, 'picky', {}),
    await started(app, published, 'picky', {}),
  ];
  await started(app, later, 'picky', {});
  await executed(app, second.uuid, second.token.uuid, ui('ask'), { amount: 2 });
  await executed(app, third.uuid, third.token.uuid, ui('ask'), { amount: 1 });
  await execute(app, fourth.uuid, fourth.token.uuid, ui('ask'), { amount: 'many' });
  await app.request('POST', `${instancePath(fifth.uuid)}/terminate`);
});
afterAll(() => app.close());

describe('GET /rtm/api/runtime/app/{appId}/build/{buildId}/process-name/{name}/statistics', () => {
  it('returns entries, current tokens, durations and incidents of each element', async () => {
    const answer = await read();
    const { start, ask, choice, check, x, y } = elementsOf(answer);

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ instances: 5, complete: true });
    expect(answer.body.bpmn).toBe(picky);
    const none = { incidents: 0, openIncidents: 0, incidentRate: 0 };
    expect(start).toMatchObject({ name: 'start', entered: 5, standing: 0, visits: 5, ...none });
    expect(ask).toMatchObject({ entered: 5, standing: 2, visits: 2, ...none });
    expect(ask?.medianMs).toBeGreaterThanOrEqual(0);
    expect(ask?.p95Ms).toBeGreaterThanOrEqual(ask?.medianMs ?? Infinity);
    // The step of the fourth instance was rolled back, so it has not entered.
    expect(choice).toMatchObject({ entered: 2, standing: 0, visits: 2, incidents: 1, openIncidents: 1 });
    expect(choice?.incidentRate).toBeCloseTo(1 / 3);
    expect(check).toMatchObject({ entered: 1, standing: 1, visits: 0, medianMs: null, p95Ms: null });
    expect(x).toMatchObject({ entered: 0, incidentRate: null });
    expect(y).toMatchObject({ entered: 1 });
  });

  it('includes only instances of this build', async () => {
    const answer = await read({}, { path: pathOf('picky', later) });
    expect(answer.body.instances).toBe(1);
    expect(elementsOf(answer)['ask']).toMatchObject({ entered: 1, standing: 1 });
  });

  it('includes instances that started in a time range, by default seven days', async () => {
    const { from, to } = (await read()).body;
    expect(new Date(to).getTime() - new Date(from).getTime()).toBe(7 * 24 * 3_600_000);
    expect((await read({ from: '2999-01-01T00:00:00Z' })).body.instances).toBe(0);
    expect((await read({ to: '2020-01-01T00:00:00Z' })).body).toMatchObject({ instances: 0, complete: true });
    expect((await read({ from: '2020-01-01T00:00:00Z' })).body).toMatchObject({
      instances: 5,
      from: '2020-01-01T00:00:00.000Z',
    });
  });

  it('reports when its limits left something out', async () => {
    const few = await limited({ instances: 2 }, () => read());
    expect(few.body).toMatchObject({ instances: 2, complete: false });
    expect(elementsOf(few)['start']).toMatchObject({ entered: 2 });
    expect((await limited({ instances: 5 }, () => read())).body).toMatchObject({
      instances: 5,
      complete: true,
    });
    expect((await limited({ events: 1 }, () => read())).body).toMatchObject({
      instances: 0,
      complete: false,
    });
    expect((await limited({ incidents: 0 }, () => read())).body).toMatchObject({
      instances: 5,
      complete: false,
    });
  });

  it('answers 401, 403, 404 and 400', async () => {
    const john = await app.tokenWith({ sub: 'john', scope: 'openid' });
    expect((await read({}, { token: null })).status).toBe(401);
    expect((await read({}, { token: john })).status).toBe(403);
    expect((await read({}, { path: pathOf('none') })).body.message).toBe('Process definition not found.');
    expect((await read({}, { path: pathOf('picky', { ...published, buildId: 'none' }) })).status).toBe(404);
    for (const query of [{ from: 'yesterday' }, { to: '1' }, { limit: '1' }]) {
      expect({ query, status: (await read(query)).status }).toEqual({ query, status: 400 });
    }
  });

  it('queries instances, events and incidents once each', async () => {
    const sent = await statementsOf(app, () => read());
    expect(sent.filter(({ sql }) => / FROM process_/.test(sql))).toHaveLength(3);
    expect(sent.length).toBeLessThanOrEqual(MAX_STATEMENTS);
    for (const [overrides, parts] of [
      [{ eventsAtOnce: 1 }, 5],
      [{ idsAtOnce: 2 }, 3],
    ] as const) {
      const parted = await limited(overrides, () => statementsOf(app, () => read()));
      const tables = parted.flatMap(({ sql }) => / FROM process_(events|incidents) /.exec(sql)?.[1] ?? []);
      expect(tables).toEqual(Array.from({ length: parts }, () => ['events', 'incidents']).flat());
    }
  });

  it('returns the same result in parts of any size', async () => {
    const { elements } = (await read()).body;
    expect((await limited({ idsAtOnce: 1 }, () => read())).body.elements).toEqual(elements);
    expect((await limited({ incidents: 0, idsAtOnce: 1 }, () => read())).body.complete).toBe(false);
    expect((await limited({ incidents: 1, idsAtOnce: 1 }, () => read())).body.complete).toBe(true);
  });

  describe.skipIf(isVitess)('of many rows', () => {
    beforeAll(async () => {
      await multiplyRows(app, 'process_events', { instance_id: 'far' });
      await multiplyRows(app, 'process_incidents', { id: 'far', instance_id: 'far', uuid: RANDOM_TEXT });
      await multiplyRows(app, 'process_instances', { id: 'far', definition_id: 'far', uuid: RANDOM_TEXT });
    });

    it.each([
      ['FROM process_instances', 'ix_process_instances_definition'],
      ['FROM process_events', isEmbedded ? 'sqlite_autoindex_process_events_1' : 'PRIMARY'],
      ['FROM process_incidents', 'ix_process_incidents_open'],
    ])('is read by an index, without sorting: %s', async (text, index) => {
      const plan = (await planOf(app, text, () => read())).join();
      expect(plan).toContain(index);
      expect(plan).not.toMatch(/TEMP B-TREE|filesort|Sort|Table scan|"type":"ALL"/);
    });
  });
});
