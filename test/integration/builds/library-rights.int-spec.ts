import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuildEntity } from '../../../src/delivery/builds/storage/build.entity.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import { userTaskProcess } from '../../support/runtime/process-files.js';
import {
  deliveryPath,
  packageDocument,
  publish,
  type Published,
  calling,
  mapping,
  workflowOf,
} from '../../support/runtime/publish.js';
import { newPlace, type Place } from '../systems/rows.js';
import { changeNode, getNode, nodePath } from './workflow-nodes.js';
import { build, buildRows, commit, packageRow, type PackageAnswer } from './rows.js';

interface Event {
  action: string;
  outcome: string;
  actor: { userName: string };
  details: Record<string, unknown> | null;
}

describe('the right to use a library', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.close());

  /** Publishes a library with this `usableBy`, or without one if it is null. */
  const library = (usableBy: string[] | null, members: Record<string, unknown> = {}): Promise<Published> => {
    const appId = uniqueName('lib');
    const application = {
      formatVersion: 1,
      appId,
      name: appId,
      ...(usableBy === null ? {} : { usableBy }),
      ...members,
    };
    return publish(app, { appId, bpmn: userTaskProcess('shared'), package: { application } });
  };
  /** Revokes the right of every application to use the build. */
  const revoke = ({ buildId }: Published): Promise<unknown> =>
    app.dataSource.getRepository(BuildEntity).update({ buildId }, { usableBy: '[]' });
  const documentWith = (place: Place, { appId, buildId }: Published): Record<string, unknown> =>
    packageDocument(place.appId, { bpmn: userTaskProcess(), libraries: [{ appId, buildId }] });
  const put = (place: Place, document: unknown): Promise<TestResponse<PackageAnswer>> =>
    app.request('PUT', `${deliveryPath(place.appId, place.versionId)}/package`, { body: document });
  const events = async ({ appId, versionId }: Published): Promise<Pick<Event, 'outcome' | 'details'>[]> => {
    const path = `/appmanager/api/resource/app/${appId}/app-version/${versionId}/rt/system/integration/api/systems/audit`;
    const { body } = await app.request<{ events: Event[] }>('GET', path);
    return body.events
      .filter(({ action }) => action === 'library.use')
      .map(({ outcome, details }) => ({ outcome, details }))
      .toReversed();
  };
  const use = (place: Place, library: Published, outcome: string, buildId: string | null = null) => ({
    outcome,
    details: {
      libraryBuildId: library.buildId,
      userAppId: place.appId,
      userAppVersionId: place.versionId,
      buildId,
    },
  });
  const sentence = (place: Place, { appId, buildId }: Published): string =>
    `Application "${place.appId}" may not use build "${buildId}" of library "${appId}": its owner must add ` +
    `"${place.appId}" to "usableBy" in its application.json, commit and make a build. Then name that build here.`;

  it('is granted by its package, and every use is in the audit log of its owner', async () => {
    const place = newPlace();
    const shared = await library([place.appId, 'another']);

    expect((await put(place, documentWith(place, shared))).status).toBe(200);
    expect(await events(shared)).toEqual([use(place, shared, 'ok')]);
    await put(place, documentWith(place, shared));
    expect(await events(shared)).toHaveLength(1);
    await commit(app, place);
    const built = await build(app, place);
    expect(built.status).toBe(201);
    expect(await events(shared)).toEqual([
      use(place, shared, 'ok'),
      use(place, shared, 'ok', built.body.buildId),
    ]);
  });

  it.each([
    ['has no usableBy', null],
    ['has an empty usableBy', []],
    ['names other applications', ['another', 'APP']],
  ])('is not granted by a package that %s', async (_what, usableBy) => {
    const place = newPlace();
    const shared = await library(usableBy);

    const answer = await put(place, documentWith(place, shared));
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ error: 'Conflict', message: sentence(place, shared) });
    expect(await packageRow(app, place)).toBeNull();
    expect(await events(shared)).toEqual([use(place, shared, 'denied')]);
  });

  it('is refused on every request, but recorded at most auditLimits.denialsPerMinute times per caller', async () => {
    const strict = await TestApp.start({ 'auditLimits.denialsPerMinute': '3' });
    const place = newPlace();
    const shared = [await library([]), await library([])] as const;
    const libraries = shared.map(({ appId, buildId }) => ({ appId, buildId }));
    const document = packageDocument(place.appId, { bpmn: userTaskProcess(), libraries });
    const callers = ['one', 'one', 'one', 'two'].map((sub) =>
      strict.tokenWith({ scope: 'application:deliver', sub }),
    );
    for (const token of callers) {
      const path = `${deliveryPath(place.appId, place.versionId)}/package`;
      expect((await strict.request('PUT', path, { token: await token, body: document })).status).toBe(409);
    }
    await strict.close();
    const recorded = [await events(shared[0]), await events(shared[1])];
    expect(recorded.map(({ length }) => length)).toEqual([3, 2]);
    expect(new Set(recorded.flat().map(({ outcome }) => outcome))).toEqual(new Set(['denied']));
  });

  it('is recorded as refused once, however often a package names the build', async () => {
    const place = newPlace();
    const shared = await library([]);
    const { appId, buildId } = shared;
    const libraries = Array.from({ length: 50 }, () => ({ appId, buildId }));
    const document = packageDocument(place.appId, { bpmn: userTaskProcess(), libraries });
    expect((await put(place, document)).status).toBe(409);
    expect(await events(shared)).toEqual([use(place, shared, 'denied')]);
  });

  it('is recorded as used only if the package was stored', async () => {
    const place = newPlace();
    const shared = await library([place.appId]);
    await put(place, packageDocument(place.appId, { bpmn: userTaskProcess() }));
    await commit(app, place);
    expect((await put(place, documentWith(place, shared))).status).toBe(409);
    expect(await events(shared)).toEqual([]);
  });

  it('is checked before anything that could reveal the contents of the library', async () => {
    const place = newPlace();
    const shared = await library([]);
    const document = documentWith(place, shared);
    const bpmn = userTaskProcess('own').replaceAll('<bpmn:userTask', '<bpmn:userTask x');
    const answer = await put(place, { ...document, processes: [{ file: 'processes/a.bpmn', bpmn }] });
    expect(answer.status).toBe(409);
    expect(answer.body.problems).toBeUndefined();
  });

  it('does not extend to an application whose id differs in case', async () => {
    const place = newPlace();
    const other = place.appId.toUpperCase();
    expect(other).not.toBe(place.appId);
    const named = await library([other]);
    expect((await put(place, documentWith(place, named))).status).toBe(409);
  });

  it('is checked again when a version is committed', async () => {
    const place = newPlace();
    const shared = await library([place.appId]);
    expect((await put(place, documentWith(place, shared))).status).toBe(200);
    await revoke(shared);
    const refused = await commit(app, place);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ message: sentence(place, shared) });
    expect(await events(shared)).toEqual([use(place, shared, 'ok'), use(place, shared, 'denied')]);
  });

  it('is checked when the problems of a package are read, without recording a refused use', async () => {
    const place = newPlace();
    const shared = await library([place.appId]);
    expect((await put(place, documentWith(place, shared))).status).toBe(200);
    await revoke(shared);
    const path = `${deliveryPath(place.appId, place.versionId)}/package/problems`;
    expect(await app.request('GET', path)).toMatchObject({
      status: 409,
      body: { message: sentence(place, shared) },
    });
    expect(await events(shared)).toEqual([use(place, shared, 'ok')]);
  });

  it('is checked again when a build is made', async () => {
    const place = newPlace();
    const shared = await library([place.appId]);
    expect((await put(place, documentWith(place, shared))).status).toBe(200);
    await commit(app, place);
    await revoke(shared);

    const refused = await build(app, place);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ message: sentence(place, shared) });
    expect(await buildRows(app, place.appId)).toEqual([]);
    expect(await events(shared)).toEqual([use(place, shared, 'ok'), use(place, shared, 'denied')]);
  });

  it('is checked again when a workflow node is edited, and a refusal leaves the package unchanged', async () => {
    const place = newPlace();
    const shared = await library([place.appId]);
    const workflows = [workflowOf('flow', [mapping('a', 1)])];
    expect((await put(place, { ...documentWith(place, shared), workflows })).status).toBe(200);
    const before = await packageRow(app, place);
    const { body: node } = await getNode(app, place, 'flow', 'a');
    await revoke(shared);

    const path = nodePath(place, 'flow', 'a');
    const added = await app.request('POST', nodePath(place, 'flow'), {
      body: { ...mapping('b', 2), name: 'b' },
    });
    for (const answer of [
      await changeNode(app, 'PUT', path, { body: { ...node, inputBody: '2' } }),
      await changeNode(app, 'DELETE', path),
      added,
    ]) {
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ error: 'Conflict', message: sentence(place, shared) });
    }
    expect(await packageRow(app, place)).toEqual(before);
    expect((await events(shared)).map(({ outcome }) => outcome)).toEqual([
      'ok',
      'denied',
      'denied',
      'denied',
    ]);
  });

  it('is required only for libraries that a package names, and owners of indirect libraries see the builds that use them', async () => {
    const middle = newPlace();
    const top = newPlace();
    const deep = await library([middle.appId]);
    const libraries = [{ appId: deep.appId, buildId: deep.buildId }];
    const application = {
      formatVersion: 1,
      appId: middle.appId,
      name: 'Middle',
      usableBy: [top.appId],
      libraries,
    };
    const between = await publish(app, { ...middle, package: { application } });
    expect((await put(top, documentWith(top, between))).status).toBe(200);
    expect(await events(deep)).toHaveLength(2);
    await commit(app, top);
    const { buildId } = (await build(app, top)).body;
    const { outcome, details } = use(top, deep, 'ok', buildId);
    expect(await events(deep)).toEqual([
      use(middle, deep, 'ok'),
      use(middle, deep, 'ok', between.buildId),
      { outcome, details: { ...details, through: [middle.appId] } },
    ]);
    top.versionId = 'v2';

    const call = userTaskProcess('calls').replace(
      /<bpmn:userTask [^]*?<\/bpmn:userTask>|<bpmn:userTask [^>]*\/>/,
      (task) =>
        `<bpmn:callActivity id="${/id="([^"]+)"/.exec(task)?.[1]}" calledElement="shared" svc:appId="${deep.appId}" />`,
    );
    const answer = await put(top, {
      ...documentWith(top, between),
      processes: [{ file: 'processes/a.bpmn', bpmn: call }],
    });
    expect(answer.status).toBe(400);
    expect(answer.body.details).toContain(`a library "${deep.appId}" that this package names`);
    expect((await put(top, documentWith(top, deep))).status).toBe(409);
  });

  it.each([
    [['one', 'one'], 'Application "one" is named twice.'],
    [['not an id'], 'Element 0 must be 1 to 64 letters'],
    ['one', '"usableBy" must be an array.'],
    [Array.from({ length: 501 }, (_, index) => `app-${index}`), 'at most 500 applications'],
  ])('must be a list of distinct application ids (%#)', async (usableBy, message) => {
    const place = newPlace();
    const application = { formatVersion: 1, appId: place.appId, name: 'Wrong', usableBy };
    const answer = await put(place, { application });
    expect(answer.status).toBe(400);
    expect(answer.body.details).toContain(message);
  });
});

describe('the right to use the systems of a library', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.close());

  const scores = (id: string, reference: Record<string, unknown>) =>
    workflowOf(id, [
      {
        id: 'call',
        type: 'REST_ENDPOINT',
        responseKey: 'answer',
        payload: { system: { resourceName: 'Scores', ...reference }, method: 'GET', path: '/all' },
      },
    ]);
  const library = (user: string, members: Record<string, unknown>): Promise<Published> => {
    const appId = uniqueName('lib');
    const application = { formatVersion: 1, appId, name: appId, usableBy: [user], ...members };
    const systems = [
      {
        resourceName: 'Scores',
        type: 'REST',
        name: 'Scores',
        baseUrl: 'https://scores.example.com',
        authorization: { type: 'API_KEY' },
      },
    ];
    return publish(app, { appId, package: { application, systems, workflows: [scores('rate', {})] } });
  };
  const documentOf = (place: Place, { appId, buildId }: Published, workflow: Record<string, unknown>) =>
    packageDocument(place.appId, {
      bpmn: userTaskProcess(),
      libraries: [{ appId, buildId }],
      package: { workflows: [workflow] },
    });
  const put = (place: Place, document: unknown): Promise<TestResponse<PackageAnswer>> =>
    app.request('PUT', `${deliveryPath(place.appId, place.versionId)}/package`, { body: document });

  it.each([
    ['are unavailable without it', () => ({ systemsUsableBy: [] }), 400],
    ['are available with it', (user: string) => ({ systemsUsableBy: [user] }), 200],
    ['are available if the library does not restrict them', () => ({}), 200],
  ])('%s, for nodes of the application', async (_what, members, status) => {
    const place = newPlace();
    const lib = await library(place.appId, members(place.appId));
    const direct = await put(place, documentOf(place, lib, scores('flow', { appId: lib.appId })));
    expect(direct.status).toBe(status);
    if (status === 400) {
      expect(direct.body).toMatchObject({
        problems: [{ code: 'SYSTEM_NOT_FOUND', message: expect.stringContaining(lib.appId) }],
      });
    } else {
      expect((await commit(app, place)).status).toBe(200);
      expect((await build(app, place)).status).toBe(201);
    }
  });

  it('is not needed to run workflows of the library that use them', async () => {
    const place = newPlace();
    const lib = await library(place.appId, { systemsUsableBy: [] });
    const called = workflowOf('flow', [calling('call', 'rate', lib.appId)]);
    expect((await put(place, documentOf(place, lib, called))).status).toBe(200);
    expect((await commit(app, place)).status).toBe(200);
    expect((await build(app, place)).status).toBe(201);
  });

  it('names each application once', async () => {
    const place = newPlace();
    const application = { formatVersion: 1, appId: place.appId, name: 'x', systemsUsableBy: ['a', 'a'] };
    const answer = await put(place, packageDocument(place.appId, { package: { application } }));
    expect(answer.body).toMatchObject({ problems: [{ element: '/systemsUsableBy/1' }] });
  });
});
