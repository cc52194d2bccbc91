import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppVersionEntity } from '../../../src/apps/app-version.entity.js';
import { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, serviceAccount } from '../../support/factories.js';
import {
  commitVersion,
  countSystems,
  createdSystem,
  definitionRows,
  insertSystem,
  newPlace,
  systemRow,
  type Place,
  type SystemBody,
} from './rows.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const JANE = { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe' };
const NAME_TAKEN = 'Name must be unique inside the project.';

describe('PATCH /resource/app/{appId}/app-version/{versionId}/rt/system/integration/api/systems', () => {
  let app: TestApp;
  let place: Place;

  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const create = (body: unknown, at = place) =>
    app.request<SystemBody & { message?: string }>('PATCH', createPath(at.appId, at.versionId), { body });

  it('answers 201 with all fields of the system, without its secret', async () => {
    const before = Date.now();
    const { status, body, text } = await create(
      createSystemBody({
        payload: { name: 'Stock', description: 'Levels and orders', authorization: serviceAccount() },
      }),
    );

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(UUID),
      svcUuid: null,
      resourceId: expect.stringMatching(UUID),
      resourceDefinitionId: expect.stringMatching(UUID),
      type: 'MCP',
      name: 'Stock',
      baseUrl: 'https://mcp.example.com/mcp',
      authorization: {
        type: 'SERVICE_ACCOUNT',
        configuration: { clientId: 'client-1', identityProviderUrl: 'https://sso.example.com/token' },
      },
      description: 'Levels and orders',
      tools: [],
      createdDate: expect.stringMatching(TIMESTAMP),
      modifiedDate: body.createdDate,
      createdBy: JANE,
      modifiedBy: JANE,
    });
    expect(new Set([body.id, body.resourceId, body.resourceDefinitionId]).size).toBe(3);
    expect(Date.parse(body.createdDate)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(body.createdDate)).toBeLessThanOrEqual(Date.now());
    expect(text).not.toContain('battery');
  });

  it('returns the location of the system', async () => {
    const { body, headers } = await create(createSystemBody());
    const read = await app.request('GET', headers.get('location') ?? '');
    expect([read.status, read.body['resourceId']]).toEqual([200, body.resourceId]);
  });

  it('stores the returned fields, and the secret only in encrypted form', async () => {
    const request = createSystemBody({
      resourceName: 'Stock_[1].(a)-B',
      payload: { authorization: serviceAccount() },
    });
    const { body } = await create(request);

    expect(await systemRow(app, body.id)).toEqual({
      id: body.id,
      resourceId: body.resourceId,
      resourceDefinitionId: body.resourceDefinitionId,
      appId: place.appId,
      appVersionId: place.versionId,
      type: 'MCP',
      resourceName: 'Stock_[1].(a)-B',
      nameKey: 'stock_[1].(a)-b',
      name: 'Inventory tools',
      description: '',
      baseUrl: 'https://mcp.example.com/mcp',
      authorizationType: 'SERVICE_ACCOUNT',
      clientId: 'client-1',
      clientSecret: expect.not.stringContaining('battery'),
      caCertificates: null,
      clientCertificate: null,
      clientKey: null,
      credentialOptions: null,
      headers: null,
      headerNames: null,
      timeoutMs: null,
      identityProviderUrl: 'https://sso.example.com/token',
      connectionKey: expect.stringMatching(/^[0-9a-f]{64}$/),
      toolsSynchronisedAt: null,
      toolsDueAt: null,
      createdBy: { ...JANE, impersonatingUser: null },
      modifiedBy: { ...JANE, impersonatingUser: null },
      createdAt: new Date(body.createdDate),
      modifiedAt: new Date(body.createdDate),
    });
    expect(await definitionRows(app, place.appId)).toEqual([
      {
        id: body.resourceDefinitionId,
        appId: place.appId,
        nameKey: 'stock_[1].(a)-b',
        createdAt: new Date(body.createdDate),
        toolsSynchronisedAt: null,
      },
    ]);
  });

  it('creates the application version as a draft with its first system', async () => {
    const { body } = await create(createSystemBody());
    await create(createSystemBody());

    const versions = await app.dataSource.getRepository(AppVersionEntity).findBy({ appId: place.appId });
    expect(versions).toEqual([
      {
        appId: place.appId,
        appVersionId: place.versionId,
        state: 'DRAFT',
        createdAt: expect.any(Date),
        committedAt: null,
      },
    ]);
    expect(versions[0]?.createdAt.getTime()).toBeGreaterThanOrEqual(Date.parse(body.createdDate));
  });

  it.each([
    ['https://bücher.example/mcp?q=1', 'https://xn--bcher-kva.example/mcp?q=1'],
    ['https://BÜCHER.example:8443/A', 'https://xn--bcher-kva.example:8443/A'],
    ['HTTPS://例え.テスト', 'HTTPS://xn--r8jz45g.xn--zckzah'],
    ['https://xn--bcher-kva.example/mcp', 'https://xn--bcher-kva.example/mcp'],
  ])('converts an internationalized host name to its DNS form: %s', async (baseUrl, stored) => {
    const { body } = await create(createSystemBody({ payload: { baseUrl } }));
    expect(body.baseUrl).toBe(stored);
    expect(await systemRow(app, body.id)).toMatchObject({ baseUrl: stored });
  });

  it('ignores any configuration sent with NO_AUTH', async () => {
    for (const configuration of [
      serviceAccount()['configuration'],
      { clientId: 7, other: [] },
      { identityProviderUrl: 'no address' },
      { identityProviderUrl: null },
      'text',
      null,
    ]) {
      const { status, body } = await create(
        createSystemBody({ payload: { authorization: { type: 'NO_AUTH', configuration } } }),
      );

      expect(status).toBe(201);
      expect(body.authorization).toEqual({ type: 'NO_AUTH' });
      expect(await systemRow(app, body.id)).toMatchObject({
        authorizationType: 'NO_AUTH',
        clientId: null,
        clientSecret: null,
        identityProviderUrl: null,
      });
    }
  });

  it('encrypts equal secrets of two systems to different ciphertexts', async () => {
    const payload = { authorization: serviceAccount() };
    const rows = await Promise.all(
      [await createdSystem(app, place, { payload }), await createdSystem(app, place, { payload })].map(
        ({ id }) => systemRow(app, id),
      ),
    );
    expect(rows[0]?.clientSecret).not.toBe(rows[1]?.clientSecret);
    expect(rows[0]?.connectionKey).toBe(rows[1]?.connectionKey);
  });

  it.each([
    ['emoji and letters of all scripts', 'Lager 📦 مخزون 在庫 𠜎', 'Was da ist 🤖\n\tund was nicht – «so»'],
    ['the longest texts', 'n'.repeat(255), 'd'.repeat(2_000)],
    ['the longest texts in characters of four bytes', '𠜎'.repeat(255), '📦'.repeat(2_000)],
    [
      'the longest texts with variation selectors',
      `${'\u2764\ufe0f'.repeat(127)}n`,
      '\u2764\ufe0f'.repeat(1_000),
    ],
    ['markup and quotes', `<b>'";--\\ %s \${x}</b>`, '{"a":1}'],
  ])('stores %s unchanged', async (_case, name, description) => {
    const body = await createdSystem(app, place, { payload: { name, description } });

    expect(body).toMatchObject({ name, description });
    expect(await systemRow(app, body.id)).toMatchObject({ name, description });
  });

  it('accepts ids of 64 characters of every allowed kind', async () => {
    const longest = { appId: `Aa0._-${'x'.repeat(58)}`, versionId: `1.0_b-${'y'.repeat(58)}` };
    await createdSystem(app, longest);
    expect(await countSystems(app, longest)).toBe(1);
  });

  it('accepts values of the maximum length in all fields', async () => {
    const longest = newPlace();
    const host = 'https://example.com/';
    await createdSystem(app, longest, {
      resourceName: 'n'.repeat(255),
      payload: {
        baseUrl: host.padEnd(2_048, 'a'),
        authorization: serviceAccount({
          clientId: '~'.repeat(255),
          clientSecret: ' '.padEnd(1_024, '~'),
          identityProviderUrl: host.padEnd(2_048, 'b'),
        }),
      },
    });
    expect(await countSystems(app, longest)).toBe(1);
  });

  it.each([undefined, null, ''])('treats the description %j as empty', async (description) => {
    const { id, description: answered } = await createdSystem(app, place, { payload: { description } });

    expect(answered).toBe('');
    expect(await systemRow(app, id)).toMatchObject({ description: '' });
  });

  it.each([
    ['another case', 'INVENTORY_tools.1'],
    ['the same case', 'Inventory_Tools.1'],
  ])('answers 409 if the name exists in the version, in %s', async (_case, second) => {
    await createdSystem(app, place, { resourceName: 'Inventory_Tools.1' });

    const { status, body } = await create(createSystemBody({ resourceName: second }));

    expect(status).toBe(409);
    const details = 'resourceName: is taken by another system of this version';
    expect(body).toMatchObject({ error: 'Conflict', message: NAME_TAKEN, status: 409, details });
    expect(await countSystems(app, place)).toBe(1);
    expect(await definitionRows(app, place.appId)).toHaveLength(1);
  });

  it('answers 409 if a system of another type has the name', async () => {
    await insertSystem(app, place, { resourceName: 'Orders' });
    expect((await create(createSystemBody({ resourceName: 'orders' }))).body.message).toBe(NAME_TAKEN);
  });

  it('gives a system with the same name in another version the same definition id, but other ids', async () => {
    const first = await createdSystem(app, place, { resourceName: 'Shared' });
    const second = await createdSystem(app, { ...place, versionId: 'v2' }, { resourceName: 'SHARED' });

    expect(second.resourceDefinitionId).toBe(first.resourceDefinitionId);
    expect(second.id).not.toBe(first.id);
    expect(second.resourceId).not.toBe(first.resourceId);
    expect(await definitionRows(app, place.appId)).toHaveLength(1);
  });

  it('gives a system with the same name in another application a different definition id', async () => {
    const first = await createdSystem(app, place, { resourceName: 'Shared' });
    const second = await createdSystem(app, newPlace(), { resourceName: 'Shared' });
    expect(second.resourceDefinitionId).not.toBe(first.resourceDefinitionId);
  });

  it('distinguishes ids of applications and versions by case', async () => {
    const lower = { appId: place.appId.toLowerCase(), versionId: 'a' };
    const places = [
      lower,
      { ...lower, versionId: 'A' },
      { appId: lower.appId.toUpperCase(), versionId: 'a' },
    ];
    const systems = [];
    for (const each of places) {
      systems.push(await createdSystem(app, each, { resourceName: 'Same' }));
    }
    expect(systems[1]?.resourceDefinitionId).toBe(systems[0]?.resourceDefinitionId);
    expect(systems[2]?.resourceDefinitionId).not.toBe(systems[0]?.resourceDefinitionId);
    expect(await Promise.all(places.map((each) => countSystems(app, each)))).toEqual([1, 1, 1]);
  });

  it('allows several systems with the same connection', async () => {
    await createdSystem(app, place);
    await createdSystem(app, place);
    expect(await countSystems(app, place)).toBe(2);
  });

  it('answers 409 in a committed version and stores nothing', async () => {
    await commitVersion(app, place);

    const { status, body } = await create(createSystemBody());

    expect(status).toBe(409);
    expect(body.message).toBe('The application version is committed and can no longer be changed.');
    expect(await countSystems(app, place)).toBe(0);
    expect(await definitionRows(app, place.appId)).toEqual([]);
  });

  it('succeeds for only one of fifty concurrent requests with the same name', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        create(createSystemBody({ resourceName: index % 2 === 0 ? 'Race' : 'RACE' })),
      ),
    );

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(49);
    expect(new Set(refused.map(({ body }) => body.message))).toEqual(new Set([NAME_TAKEN]));
    expect(await countSystems(app, place)).toBe(1);
    expect(await definitionRows(app, place.appId)).toHaveLength(1);
  });

  it('assigns only one definition id to a new name that twenty versions use concurrently', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        create(createSystemBody({ resourceName: 'First' }), { ...place, versionId: `v${index}` }),
      ),
    );

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.resourceDefinitionId)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.resourceId)).size).toBe(20);
    expect(await definitionRows(app, place.appId)).toHaveLength(1);
  });

  it('creates different systems concurrently in a new version', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => create(createSystemBody())));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(await countSystems(app, place)).toBe(30);
  });
});
