import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppVersionEntity } from '../../../src/apps/app-version.entity.js';
import { TestApp } from '../../support/app.js';
import { userTaskProcess } from '../../support/runtime/process-files.js';
import { deliveryPath, packageDocument } from '../../support/runtime/publish.js';
import { auditRows, countSystems, newPlace, type Place } from '../systems/rows.js';
import { packageRow, store, systemRows } from './rows.js';

const REST = { resourceName: 'Scoring', type: 'REST', name: 'Scores', baseUrl: 'https://scores.example.com' };

describe('PUT /resource/app/{appId}/app-version/{versionId}/package', () => {
  let app: TestApp;
  let place: Place;
  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const document = (rest: Record<string, unknown> = {}) =>
    packageDocument(place.appId, { bpmn: userTaskProcess(), package: rest });
  const path = () => `${deliveryPath(place.appId, place.versionId)}/package`;

  it('stores the package and creates the version as a draft', async () => {
    const { status, body } = await store(app, place, document({ systems: [REST] }));

    expect(status).toBe(200);
    expect(body).toMatchObject({
      checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
      changed: true,
      systems: { added: ['Scoring'], changed: [], removed: [] },
    });
    const version = { appId: place.appId, appVersionId: place.versionId };
    expect(await app.dataSource.getRepository(AppVersionEntity).findOneBy(version)).toMatchObject({
      state: 'DRAFT',
      committedAt: null,
    });
    expect(await packageRow(app, place)).toMatchObject({
      checksum: body.checksum,
      storedBy: { userName: 'jane.doe' },
    });
    expect(await auditRows(app, place)).toMatchObject([
      {
        action: 'package.store',
        outcome: 'ok',
        details: { checksum: body.checksum, processes: 1, workflows: 0, systemsAdded: ['Scoring'] },
      },
    ]);
  });

  it('returns it with every byte of its files', async () => {
    const bpmn = `${userTaskProcess()}\r\n<!-- "ä" 在庫 😀 \\ \t ' -->  \n`;
    const delivered = packageDocument(place.appId, { bpmn });
    await store(app, place, delivered);
    const { status, body } = await app.request('GET', path());

    expect(status).toBe(200);
    expect(body).toEqual(delivered);
  });

  it('does nothing when the same package is stored again', async () => {
    const first = await store(app, place, document({ systems: [REST] }));
    const [row, systems] = [await packageRow(app, place), await systemRows(app, place)];
    const second = await store(app, place, document({ systems: [REST] }));

    expect(second.body).toEqual({
      ...first.body,
      changed: false,
      systems: { added: [], changed: [], removed: [] },
    });
    expect(await packageRow(app, place)).toEqual(row);
    expect(await systemRows(app, place)).toEqual(systems);
    expect(await auditRows(app, place)).toHaveLength(1);
  });

  it('treats another order of members as the same package', async () => {
    const { body: first } = await store(app, place, document());
    const reversed = Object.fromEntries(Object.entries(document()).toReversed());

    expect((await store(app, place, reversed)).body).toMatchObject({
      checksum: first.checksum,
      changed: false,
    });
  });

  it('replaces the previous package', async () => {
    const { body: first } = await store(app, place, document());
    const other = packageDocument(place.appId, { bpmn: userTaskProcess('other') });
    const { body: second } = await store(app, place, other);

    expect(second.changed).toBe(true);
    expect(second.checksum).not.toBe(first.checksum);
    expect((await app.request('GET', path())).body).toEqual(other);
  });

  it('accepts a package larger than other request bodies may be', async () => {
    const comment = `<!-- ${'"\\'.repeat(250_000)} -->`;
    const large = packageDocument(place.appId, { bpmn: userTaskProcess() + comment });

    expect((await store(app, place, large)).status).toBe(200);
    expect((await app.request('GET', path())).body).toEqual(large);
  });

  it('reports all problems at once and stores nothing', async () => {
    const wrong = packageDocument(place.appId, {
      bpmn: ['<not-bpmn/>', userTaskProcess()],
      libraries: [{ appId: 'library', buildId: 'nowhere' }],
      package: { systems: [REST, { ...REST, name: 'Twice' }] },
    });
    const { status, body } = await store(app, place, wrong);

    expect(status).toBe(400);
    expect(body.message).toBe('The application package is not valid.');
    const problems = body.problems ?? [];
    expect(new Set(problems.filter(({ severity }) => severity === 'error').map(({ file }) => file))).toEqual(
      new Set(['application.json', 'processes/process-0.bpmn', 'systems/Scoring.json']),
    );
    expect(problems).toContainEqual(
      expect.objectContaining({ code: 'LIBRARY_NOT_FOUND', element: '/libraries/0' }),
    );
    for (const { file, message } of problems.filter(({ severity }) => severity === 'error')) {
      expect(body.details).toContain(file);
      expect(body.details).toContain(message);
    }
    expect(await packageRow(app, place)).toBeNull();
    expect(await countSystems(app, place)).toBe(0);
    expect(await auditRows(app, place)).toEqual([]);
    expect((await app.request('GET', path())).status).toBe(404);
  });

  it('reports problems of processes and systems even if members are unknown', async () => {
    const bpmn = userTaskProcess().replaceAll('userTask', 'scriptTask');
    const guest = { ...REST, baseUrl: 'https://guest:guest@scores.example.com' };
    const rest = { systems: [guest, { ...REST, resourceName: 'Other', color: 'red' }] };
    const { status, body } = await store(app, place, packageDocument(place.appId, { bpmn, package: rest }));

    expect(status).toBe(400);
    expect(body['problems']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: 'MEMBER_UNKNOWN', file: 'systems/Other.json' }),
        expect.objectContaining({ code: 'URL_INVALID', file: 'systems/Scoring.json' }),
        expect.objectContaining({ code: 'UNSUPPORTED_ELEMENT', file: 'processes/process-0.bpmn' }),
      ]),
    );
    expect(await packageRow(app, place)).toBeNull();
  });

  it('reports problems as application/problem+json, too', async () => {
    const response = await app.request('PUT', path(), {
      body: packageDocument(place.appId, { bpmn: 'x' }),
      headers: { accept: 'application/problem+json' },
    });

    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(response.body).toMatchObject({
      type: 'about:blank',
      title: 'Bad Request',
      problems: [expect.objectContaining({ severity: 'error', file: 'processes/process-0.bpmn' })],
    });
  });

  it('keeps the previous package when a later one is refused', async () => {
    await store(app, place, document({ systems: [REST] }));
    const before = await packageRow(app, place);
    expect((await store(app, place, document({ systems: [REST, REST] }))).status).toBe(400);

    expect(await packageRow(app, place)).toEqual(before);
    expect(await countSystems(app, place)).toBe(1);
  });

  it('refuses the package of another application', async () => {
    const { status, body } = await store(app, place, packageDocument('other', { bpmn: userTaskProcess() }));

    expect(status).toBe(400);
    expect(body.problems).toContainEqual(
      expect.objectContaining({ file: 'application.json', element: '/appId' }),
    );
  });

  it.each([
    ['malformed JSON', { rawBody: '{"' }, 'Request body is not valid JSON.'],
    ['an array', { body: [] }, 'Request body must be a JSON object.'],
    ['another content type', { rawBody: 'x', headers: { 'content-type': 'text/plain' } }, 'Content-Type'],
    ['a key that reaches prototypes', { body: { application: { constructor: 1 } } }, 'package is not valid'],
    ['a number beyond a double', { rawBody: '{"application":{"n":1e999}}' }, 'package is not valid'],
    [
      'an integer that would be rounded',
      { rawBody: '{"application":{"n":9007199254740993}}' },
      'package is not valid',
    ],
    ['an empty body', {}, 'The application package is not valid.'],
  ])('answers 400 to %s', async (_what, request, message) => {
    const { status, body } = await app.request('PUT', path(), request);

    expect(status).toBe(400);
    expect(body['message']).toContain(message);
  });

  it.each([
    ['appId', () => deliveryPath('a b', 'v1')],
    ['versionId', () => deliveryPath('app', 'v'.repeat(65))],
  ])('answers 400 to a bad %s', async (name, base) => {
    const { status, body } = await app.request('PUT', `${base()}/package`, { body: document() });
    expect(status).toBe(400);
    expect(body['details']).toContain(name);
  });

  it('answers 401 without a token and 403 without the permission, and audits the latter', async () => {
    const token = await app.tokenWith({ scope: 'openid integration:manage' });
    expect((await app.request('PUT', path(), { token: null, body: document() })).status).toBe(401);
    const denied = await app.request('PUT', path(), { token, body: document() });

    expect(denied.status).toBe(403);
    expect(denied.body['message']).toBe('Insufficient permissions to deliver applications');
    await expect
      .poll(() => auditRows(app, place))
      .toMatchObject([{ action: 'package.store', outcome: 'denied' }]);
    expect((await app.request('GET', path(), { token })).status).toBe(403);
  });

  it('answers 409 when the version is committed', async () => {
    await store(app, place, document());
    const before = await packageRow(app, place);
    await app.request('POST', `${deliveryPath(place.appId, place.versionId)}/commit`);
    const { status, body } = await store(app, place, document({ systems: [REST] }));

    expect(status).toBe(409);
    expect(body.message).toBe('The application version is committed and can no longer be changed.');
    expect(await packageRow(app, place)).toEqual(before);
    expect((await auditRows(app, place)).at(-1)).toMatchObject({
      action: 'package.store',
      outcome: 'error',
      details: { code: 'VERSION_COMMITTED' },
    });
  });
});

const sent = (bytes: number) => ({ body: { text: 'x'.repeat(bytes) } });

describe('PUT /resource/app/{appId}/app-version/{versionId}/package beyond its limit', () => {
  it('answers 400 with the limit, and other routes keep theirs', async () => {
    const app = await TestApp.start({ 'packageLimits.bytes': '2048', 'httpLimits.bodyBytes': '1024' });
    const place = newPlace();
    const path = deliveryPath(place.appId, place.versionId);
    try {
      const large = await app.request('PUT', `${path}/package`, sent(2_048));
      expect(large.status).toBe(400);
      expect(large.body['details']).toBe('the limit is 2048 bytes');
      const other = await app.request('POST', `${path}/commit`, sent(1_024));
      expect(other.body['details']).toBe('the limit is 1024 bytes');
      const between = await app.request('PUT', `${path}/package`, sent(1_500));
      expect(between.body['message']).toBe('The application package is not valid.');
    } finally {
      await app.close();
    }
  });
});
