import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProcessInstancesService } from '../../../src/runtime/reading/process-instances.service.js';
import type { RunningProcessesDto } from '../../../src/runtime/model/running-processes.dto.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { multiplyRows, planOf, RANDOM_TEXT, statementsOf } from '../../support/databases/query-plans.js';
import { uniqueName } from '../../support/factories.js';
import { processFile, flows, node, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { instancePath, start } from '../../support/runtime/runtime-client.js';

const PATH = '/rtm/api/runtime/running-process';
const RULES = {
  'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
  'process-start': [{ claim: 'scope', has: 'process:start' }],
  'process-administration': [{ claim: 'scope', has: 'process:administer' }],
  'process-read': [
    { claim: 'scope', has: 'process:read' },
    { claim: 'roles', hasAt: 'reader' },
  ],
};
/** On Vitess, each server returns a plan of its own. */
const isVitess = process.env['TEST_DATABASE'] === 'vitess';
const waiting = (name: string): string =>
  processFile(
    name,
    `${node('startEvent', 'start')}${userTask('ask')}${node('endEvent', 'end')}${flows('start>ask ask>end')}`,
  );

let app: TestApp;
let mine: Published;
let other: Published;
let uuids: string[];

const count = (
  query: Record<string, string> = {},
  token?: string | null,
): Promise<TestResponse<RunningProcessesDto>> =>
  app.request(
    'GET',
    `${PATH}?${new URLSearchParams(query).toString()}`,
    token === undefined ? {} : { token },
  );
const readerOf = (...apps: string[]): Promise<string> =>
  app.tokenWith({
    sub: uniqueName('caller'),
    scope: 'openid',
    roles: apps.map((appId) => `reader@${appId}`),
  });
const startOf = async (published: Published, name: string): Promise<string> =>
  (await start(app, published, name, {})).body.uuid;

beforeAll(async () => {
  app = await TestApp.start({ JOBS_CONCURRENCY: '0', PERMISSION_RULES: JSON.stringify(RULES) });
  mine = await publish(app, { bpmn: waiting('plain') });
  const later = await publish(app, { appId: mine.appId, bpmn: waiting('plain') });
  other = await publish(app, { bpmn: waiting('other') });
  uuids = [await startOf(mine, 'plain'), await startOf(later, 'plain'), await startOf(mine, 'plain')];
  await startOf(other, 'other');
  await app.request('POST', `${instancePath(await startOf(mine, 'plain'))}/terminate`);
});
afterAll(() => app.close());

describe('GET /rtm/api/runtime/running-process', () => {
  it('counts running instances by process, across builds', async () => {
    const { status, body } = await count({}, await readerOf(mine.appId));
    const started = await Promise.all(
      uuids.map(async (uuid) => (await app.request('GET', instancePath(uuid))).body['startedAt']),
    );

    expect(status).toBe(200);
    expect(body).toEqual({
      processes: [
        {
          applicationId: mine.appId,
          processDefinitionName: 'plain',
          running: 3,
          oldestStartedAt: started[0],
          newestStartedAt: started[2],
        },
      ],
      complete: true,
    });
  });

  it('includes applications that the caller may read, most instances first, and says whether there are more', async () => {
    const token = await readerOf(mine.appId, other.appId);
    const { body } = await count({}, token);
    expect(body.processes.map(({ running }) => running)).toEqual([3, 1]);
    const service = app.nest.get(ProcessInstancesService);
    Object.assign(service, { maxRunning: 1 });
    const few = (await count({}, token)).body;
    expect(few).toEqual({ processes: body.processes.slice(0, 1), complete: false });
    Object.assign(service, { maxRunning: 2 });
    expect((await count({}, token)).body.complete).toBe(true);
    Object.assign(service, { maxRunning: 200 });
    expect((await count()).body.processes).toEqual(expect.arrayContaining(body.processes));
  });

  it('answers 401, 403 and 400', async () => {
    expect((await count({}, null)).status).toBe(401);
    expect((await count({}, await readerOf())).status).toBe(403);
    expect((await count({ state: 'FINISHED' })).status).toBe(400);
  });

  it('sends one statement', async () => {
    expect(await statementsOf(app, () => count())).toHaveLength(1);
  });

  it.skipIf(isVitess)('counts in an index', async () => {
    await multiplyRows(app, 'process_instances', {
      id: 'far',
      uuid: RANDOM_TEXT,
      state: { all: 'FINISHED' },
    });
    for (const token of [undefined, await readerOf(mine.appId)]) {
      const plan = (await planOf(app, 'FROM process_instances', () => count({}, token))).join();
      expect(plan).toMatch(/ix_process_instances_\w*state/);
      expect(plan).not.toMatch(/Table scan on process_instances|"type":"ALL"/);
    }
  });
});
