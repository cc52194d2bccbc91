import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { v7 as uuid } from 'uuid';
import { AuditOutcome } from '../../../src/audit/model/audit.types.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  listPath,
  uniqueName,
} from '../../support/factories.js';
import { flows, node, processFile, ui, userTask } from '../../support/runtime/process-files.js';
import {
  appPath,
  deliveryPath,
  packageDocument,
  publish,
  type Published,
  mapping,
  workflowOf,
} from '../../support/runtime/publish.js';
import {
  execute,
  executed,
  eventually,
  instancePath,
  start,
  started,
  startPath,
} from '../../support/runtime/runtime-client.js';
import { auditRows } from '../systems/rows.js';

const SCOPES = {
  'integration-management': 'integration:manage',
  'application-delivery': 'application:deliver',
  'process-read': 'process:read',
  'process-administration': 'process:administer',
  'process-data': 'process:correct',
  'workflow-test': 'workflow:test',
  'tool-call': 'tool:call',
  'tool-use': 'tool:use',
};
const NAMES = [...Object.keys(SCOPES), 'starter', 'actor', 'clerk'];
/** Grants every permission in every form. The default caller has all permissions for all applications. */
const RULES = Object.fromEntries(
  NAMES.map((name) => [
    name,
    [
      { claim: 'sub', has: 'user-1' },
      { claim: 'roles', hasAt: name },
      { claim: 'roles', has: `${name}:listed`, appsIn: ['rights', 'apps'] },
      { claim: 'roles', has: `${name}:mine`, apps: ['mine_*'] },
    ],
  ]),
);
const laned = processFile(
  'laned',
  `<bpmn:laneSet id="lanes"><bpmn:lane id="clerk" name="Clerk" svc:execute="clerk">
     <bpmn:flowNodeRef>a</bpmn:flowNodeRef></bpmn:lane></bpmn:laneSet>
   ${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
);
const waits = processFile(
  'waits',
  `${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
);

let app: TestApp;
let mine: Published;
let other: Published;
/** Token of a caller with every permission, but only for `mine`. */
let limited: string;
/** Token of a caller without permissions. */
let none: string;
const subject = 'limited';

beforeAll(async () => {
  app = await TestApp.start({
    PERMISSION_RULES: JSON.stringify(RULES),
    PROCESS_START_PERMISSION: 'starter',
    PROCESS_UI_ACTION_PERMISSION: 'actor',
    'jobLimits.pollMs': '20',
  });
  const publication = {
    bpmn: [waits, laned],
    package: { workflows: [workflowOf('double', [mapping('a', 1)])] },
  };
  mine = await publish(app, { ...publication, appId: uniqueName('mine'), activate: true });
  // Ids are case-sensitive, even in SQL filters, so this is a different application.
  other = await publish(app, { ...publication, appId: mine.appId.toUpperCase(), activate: true });
  limited = await tokenOf({ sub: subject, roles: NAMES.map((name) => `${name}@${mine.appId}`) });
  none = await tokenOf({ roles: NAMES });
});
afterAll(() => app.close());

const tokenOf = (claims: Record<string, unknown>): Promise<string> =>
  app.tokenWith({ scope: 'openid', sub: uniqueName('caller'), ...claims });
const errorOf = ({ status, body }: TestResponse): unknown => ({
  status,
  message: body['message'],
  details: body['details'],
});
const get = (path: string, token: string): Promise<TestResponse> => app.request('GET', path, { token });

describe('routes with an application in their path', () => {
  const routes: [string, string, (published: Published) => string, object?][] = [
    ['list of builds', 'GET', ({ appId }) => `${appPath(appId)}/builds`],
    ['list of versions', 'GET', ({ appId }) => `${appPath(appId)}/app-version`],
    ['build', 'GET', ({ appId, buildId }) => `${appPath(appId)}/build/${buildId}`],
    ['differences', 'GET', ({ appId, buildId }) => `${appPath(appId)}/build/${buildId}/differences`],
    ['active build', 'GET', ({ appId }) => `${appPath(appId)}/active-build`],
    ['package', 'GET', ({ appId, versionId }) => `${deliveryPath(appId, versionId)}/package`],
    ['delivery', 'PUT', ({ appId, versionId }) => `${deliveryPath(appId, versionId)}/package`, { body: {} }],
    ['commit', 'POST', ({ appId, versionId }) => `${deliveryPath(appId, versionId)}/commit`],
    ['workflows', 'GET', ({ appId, versionId }) => `${deliveryPath(appId, versionId)}/workflow`],
    ['preflight', 'GET', ({ appId, buildId }) => `${appPath(appId)}/build/${buildId}/agent-preflight`],
    ['systems', 'GET', ({ appId, versionId }) => listPath(appId, versionId)],
    ['new system', 'PATCH', ({ appId }) => createPath(appId, 'draft'), { body: createSystemBody() }],
    [
      'connection test',
      'PATCH',
      ({ appId, versionId }) => connectionTestPath(appId, versionId),
      { body: {} },
    ],
    ['audit log', 'GET', ({ appId, versionId }) => `${createPath(appId, versionId)}/audit`],
    ['audit log of all versions', 'GET', ({ appId }) => `${appPath(appId)}/audit`],
    [
      'test run',
      'POST',
      ({ appId, buildId }) => `/rtm/api/runtime/app/${appId}/build/${buildId}/workflow/double/test-run`,
    ],
    ['start', 'POST', (published) => startPath(published, 'waits'), { headers: { 'svc-platform': 'web' } }],
  ];

  it.each(routes)('%s: only for permitted applications', async (_name, method, pathOf, request = {}) => {
    const own = await app.request(method, pathOf(mine), { token: limited, ...request });
    expect(own.status).not.toBe(403);
    const denied = await app.request(method, pathOf(other), { token: none, ...request });
    expect(denied.status).toBe(403);
    const unknown = { ...other, appId: 'no-such-app' };
    for (const published of [other, unknown]) {
      const foreign = await app.request(method, pathOf(published), { token: limited, ...request });
      expect(errorOf(foreign)).toEqual(errorOf(denied));
    }
  });

  it('support patterns, and claims that list applications', async () => {
    const path = (appId: string): string => `${appPath(appId)}/builds`;
    const statuses = async (claims: Record<string, unknown>): Promise<number[]> => {
      const token = await tokenOf(claims);
      const answers = [await get(path(mine.appId), token), await get(path(other.appId), token)];
      return answers.map(({ status }) => status);
    };
    expect(await statuses({ roles: ['application-delivery:mine'] })).toEqual([200, 403]);
    const roles = ['application-delivery:listed'];
    expect(await statuses({ roles, rights: { apps: [other.appId] } })).toEqual([403, 200]);
    expect(await statuses({ roles, rights: { apps: [other.appId, mine.appId] } })).toEqual([200, 200]);
    expect(await statuses({ roles, rights: { apps: ['*'] } })).toEqual([403, 403]);
    expect(await statuses({ roles: ['integration-management:mine'] })).toEqual([403, 403]);
  });
});

describe('process instances', () => {
  it('are listed if the caller may read the application or started the instance', async () => {
    const [one, two] = [await started(app, mine, 'waits'), await started(app, other, 'waits')];
    const uuids = async (token: string, query = ''): Promise<string[]> => {
      const { body } = await get(`${instancePath('').slice(0, -1)}?limit=100${query}`, token);
      return (body['instances'] as { uuid: string }[]).map((instance) => instance.uuid);
    };
    const seen = await uuids(limited);
    expect(seen).toContain(one.uuid);
    expect(seen).not.toContain(two.uuid);
    expect(await uuids(limited, `&applicationId=${other.appId}`)).toEqual([]);
    expect(await uuids(await tokenOf({ roles: ['process-read:mine'] }))).toContain(one.uuid);
    expect(await uuids(none)).toEqual([]);
    const both = await tokenOf({ roles: [`process-read@${mine.appId}`, `starter@${other.appId}`] });
    const own = await start(app, other, 'waits', undefined, { token: both });
    const listed = await uuids(both);
    expect(listed).toContain(own.body.uuid);
    expect(listed).toContain(one.uuid);
    expect(listed).not.toContain(two.uuid);
  });

  it.each(['', '/history', '/bpmn', '/diagram', '/progress'])(
    '%s of another application looks like an unknown instance',
    async (part) => {
      const { uuid: foreign } = await started(app, other, 'waits');
      const unknown = errorOf(await get(instancePath(uuid()) + part, limited));
      expect(unknown).toMatchObject({ status: 404, message: 'Process instance not found.' });
      expect(errorOf(await get(instancePath(foreign) + part, limited))).toEqual(unknown);
      for (const id of [foreign, uuid()]) {
        expect((await get(instancePath(id) + part, none)).status).toBe(403);
      }
      if (part !== '/progress') {
        const { uuid: own } = await started(app, mine, 'waits');
        expect((await get(instancePath(own) + part, limited)).status).toBe(200);
      }
    },
  );

  it('are operated on only by administrators of the application, whose audit log records refusals', async () => {
    const operate = (id: string, operation: string, token: string): Promise<TestResponse> =>
      app.request('POST', `${instancePath(id)}/${operation}`, { token });
    const { uuid: foreign, token: place } = await started(app, other, 'waits');
    const { uuid: own } = await started(app, mine, 'waits');
    const operations = ['hold', 'release', 'terminate', 'retry', `token/${place.uuid}/retry`];
    for (const operation of operations) {
      const unknown = errorOf(await operate(uuid(), operation, limited));
      expect(unknown).toMatchObject({ status: 404, message: 'Process instance not found.' });
      expect(errorOf(await operate(foreign, operation, limited))).toEqual(unknown);
      expect((await operate(foreign, operation, none)).status).toBe(403);
    }
    expect((await operate(own, 'hold', limited)).status).toBe(200);
    const denied = async (): Promise<number> =>
      (await auditRows(app, other)).filter(
        ({ outcome, details, actorSubject }) =>
          outcome === AuditOutcome.Denied &&
          actorSubject === subject &&
          details?.['processInstanceUuid'] === foreign,
      ).length;
    await expect.poll(denied).toBe(operations.length);
  });

  it('accept UI actions only with permissions for the application, including lanes', async () => {
    const foreign = await started(app, other, 'laned');
    const own = await started(app, mine, 'laned');
    const refused = await execute(app, foreign.uuid, foreign.token.uuid, ui('a'), {}, { token: limited });
    const unknown = await execute(app, uuid(), foreign.token.uuid, ui('a'), {}, { token: limited });
    expect(errorOf(refused)).toEqual(errorOf(unknown));
    expect(refused.status).toBe(404);
    const wrongLane = await tokenOf({
      roles: [`actor@${mine.appId}`, `process-read@${mine.appId}`, `clerk@${other.appId}`],
    });
    expect((await execute(app, own.uuid, own.token.uuid, ui('a'), {}, { token: wrongLane })).status).toBe(
      403,
    );
    const shown = await get(instancePath(own.uuid), wrongLane);
    expect(shown.body['tokens']).toMatchObject([{ uiActions: [] }]);
    const noActor = await tokenOf({
      roles: ['process-read', 'clerk'].map((name) => `${name}@${mine.appId}`),
    });
    expect((await get(instancePath(own.uuid), noActor)).body['tokens']).toMatchObject([{ uiActions: [] }]);
    expect((await get(instancePath(own.uuid), limited)).body['tokens']).toMatchObject([
      { uiActions: [{ svcUuid: ui('a') }] },
    ]);
    expect((await execute(app, own.uuid, own.token.uuid, ui('a'), {}, { token: limited })).status).toBe(200);
    await executed(app, foreign.uuid, foreign.token.uuid, ui('a'), {});
  });
});

describe('workflow runs', () => {
  const RUNS = '/rtm/api/runtime/workflow-run';
  const run = async ({ appId, buildId }: Published): Promise<string> => {
    const path = `/rtm/api/runtime/app/${appId}/build/${buildId}/workflow/double/test-run`;
    return (await app.request<{ workflowRunId: string }>('POST', path, { body: {} })).body.workflowRunId;
  };

  it('are listed and read only for permitted applications', async () => {
    const [own, foreign] = [await run(mine), await run(other)];
    const { body } = await get(`${RUNS}?limit=100`, limited);
    const ids = (body['runs'] as { id: string }[]).map(({ id }) => id);
    expect(ids).toContain(own);
    expect(ids).not.toContain(foreign);
    for (const part of ['', '/calls']) {
      expect((await get(`${RUNS}/${own}${part}`, limited)).status).toBe(200);
      const unknown = errorOf(await get(`${RUNS}/${uuid()}${part}`, limited));
      expect(unknown).toMatchObject({ status: 404, message: 'Workflow run not found.' });
      expect(errorOf(await get(`${RUNS}/${foreign}${part}`, limited))).toEqual(unknown);
      expect((await get(`${RUNS}/${foreign}${part}`, none)).status).toBe(403);
    }
    await eventually(
      () => app.request('GET', `${RUNS}/${foreign}`),
      ({ body: { state } }) => state !== 'STARTED',
    );
  });
});

describe('libraries of other applications', () => {
  const store = async (
    libraries: { appId: string; buildId: string }[],
    token: string,
  ): Promise<TestResponse> => {
    const path = `${deliveryPath(mine.appId, uniqueName('v'))}/package`;
    return app.request('PUT', path, { token, body: packageDocument(mine.appId, { bpmn: waits, libraries }) });
  };

  it('look like unknown libraries without consent, and the audit log of their owner records the refusal', async () => {
    const refused = await store([{ appId: other.appId, buildId: other.buildId }], limited);
    const buildId = uuid();
    const unknown = await store([{ appId: other.appId, buildId }], limited);
    expect(refused.status).toBe(400);
    expect(refused.text.replaceAll(other.buildId, buildId)).toBe(unknown.text);
    expect((await auditRows(app, other)).map(({ action }) => action)).toContain('library.use');
    const knows = await tokenOf({
      roles: [`application-delivery@${mine.appId}`, `application-delivery@${other.appId}`],
    });
    expect((await store([{ appId: other.appId, buildId: other.buildId }], knows)).status).toBe(409);
  });

  it('can be used with consent, without permission to deliver them', async () => {
    const appId = uniqueName('lib');
    const application = { formatVersion: 1, appId, name: appId, usableBy: [mine.appId] };
    const library = await publish(app, { appId, bpmn: waits, package: { application } });
    expect((await store([{ appId, buildId: library.buildId }], limited)).status).toBe(200);
    expect((await get(`${appPath(appId)}/build/${library.buildId}`, limited)).status).toBe(403);
  });
});
