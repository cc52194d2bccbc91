import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemType } from '../../../src/systems/model/system.types.js';
import { TestApp } from '../../support/app.js';
import { detailsPath, serviceAccount } from '../../support/factories.js';
import {
  commitVersion,
  createdSystem,
  insertSystem,
  insertTools,
  newPlace,
  systemRow,
  type Place,
  type SystemBody,
} from './rows.js';

const JANE = { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null };
const NOT_FOUND = { error: 'Not Found', message: 'System not found.', status: 404 };

describe('GET /resource/app/{appId}/app-version/{versionId}/rt/system/ri/{systemResourceId}/integration/api/systems/getById', () => {
  let app: TestApp;
  let place: Place;

  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const get = (resourceId: string, { appId, versionId } = place, token?: string | null) =>
    app.request<SystemBody>(
      'GET',
      detailsPath(resourceId, appId, versionId),
      token === undefined ? {} : { token },
    );

  it('returns all fields of the system, with the configuration as `config`', async () => {
    const created = await createdSystem(app, place, {
      payload: { name: 'Stock 📦', description: 'Levels', authorization: serviceAccount() },
    });

    const { status, body, text } = await get(created.resourceId);

    expect(status).toBe(200);
    expect(body).toEqual({
      id: created.id,
      svcUuid: null,
      resourceId: created.resourceId,
      resourceDefinitionId: created.resourceDefinitionId,
      type: 'MCP',
      name: 'Stock 📦',
      baseUrl: 'https://mcp.example.com/mcp',
      authorization: {
        type: 'SERVICE_ACCOUNT',
        config: { clientId: 'client-1', identityProviderUrl: 'https://sso.example.com/token' },
      },
      description: 'Levels',
      tools: [],
      createdDate: created.createdDate,
      modifiedDate: created.modifiedDate,
      createdBy: JANE,
      modifiedBy: JANE,
    });
    expect(text).not.toContain('battery');
    expect(text).not.toContain((await systemRow(app, created.id))?.clientSecret);
  });

  it('omits the configuration for NO_AUTH, and returns a missing description as an empty string', async () => {
    const { resourceId } = await createdSystem(app, place);
    const { body } = await get(resourceId);
    expect(body.authorization).toEqual({ type: 'NO_AUTH' });
    expect(body.description).toBe('');
  });

  it('returns the actor of a delegated token as the impersonating user', async () => {
    const token = await app.tokenWith({ act: { sub: 'support-1', given_name: 'Sue', family_name: 'Port' } });
    const { resourceId } = await createdSystem(app, place, {}, token);

    const { body } = await get(resourceId);

    const delegated = {
      ...JANE,
      impersonatingUser: { firstName: 'Sue', lastName: 'Port', userName: 'support-1' },
    };
    expect(body.createdBy).toEqual(delegated);
    expect(body.modifiedBy).toEqual(delegated);
  });

  it.each([
    ['the e-mail address', { preferred_username: undefined, email: 'jane@example.com' }, 'jane@example.com'],
    ['the client id', { preferred_username: undefined, client_id: 'deployer' }, 'deployer'],
    ['the subject', { preferred_username: undefined, sub: 'user-77' }, 'user-77'],
  ])('identifies a caller without a login name by %s', async (_name, claims, userName) => {
    const nameless = { given_name: undefined, family_name: undefined };
    const token = await app.tokenWith({ ...nameless, ...claims });
    const { resourceId } = await createdSystem(app, place, {}, token);

    const { body } = await get(resourceId);
    expect(body.createdBy).toEqual({ firstName: '', lastName: '', userName, impersonatingUser: null });
  });

  it('lists the existing tools with all fields, in the order of the server', async () => {
    const { id, resourceId } = await createdSystem(app, place);
    const inputSchema = {
      type: 'object',
      properties: { '10': { type: 'string', enum: ['ü', '😀'] }, a: { description: 'x', type: 'number' } },
      required: ['a'],
    };
    const outputSchema = { type: 'object', properties: { sum: { type: 'number' } } };
    const ids = await insertTools(app, id, [
      { name: 'zeta', description: 'Macht es 🤖 – 在庫', inputSchema, outputSchema },
      { name: 'gone', present: false },
      { name: 'alpha', description: '', enabled: false },
      { name: 'echo' },
      { name: 'Echo' },
    ]);

    const { body } = await get(resourceId);

    expect(body.tools.map(({ name }) => name)).toEqual(['zeta', 'alpha', 'echo', 'Echo']);
    expect(body.tools[0]).toEqual({
      id: ids[0],
      svcUuid: null,
      name: 'zeta',
      description: 'Macht es 🤖 – 在庫',
      inputSchema,
      outputSchema,
      enabled: true,
    });
    expect(body.tools[1]).toEqual({
      id: ids[2],
      svcUuid: null,
      name: 'alpha',
      description: '',
      inputSchema: { type: 'object' },
      outputSchema: {},
      enabled: false,
    });
  });

  it('returns a system whose tools are all gone', async () => {
    const { id, resourceId } = await createdSystem(app, place);
    await insertTools(app, id, [{ name: 'gone', present: false }]);
    const { status, body } = await get(resourceId);
    expect(status).toBe(200);
    expect(body.tools).toEqual([]);
  });

  it('returns a system of a committed version', async () => {
    const { resourceId } = await createdSystem(app, place);
    await commitVersion(app, place);
    expect((await get(resourceId)).status).toBe(200);
  });

  it.each([
    ['an unknown resource id', () => place, () => '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'],
    ['the id instead of the resource id', () => place, (system: SystemBody) => system.id],
    ['the definition id', () => place, (system: SystemBody) => system.resourceDefinitionId],
    ['the resource id in another case', () => place, (system: SystemBody) => system.resourceId.toUpperCase()],
    ['another version', () => ({ ...place, versionId: 'v2' }), (system: SystemBody) => system.resourceId],
    ['another application', () => newPlace(), (system: SystemBody) => system.resourceId],
    [
      'the version in another case',
      () => ({ ...place, versionId: 'V1' }),
      (system: SystemBody) => system.resourceId,
    ],
    [
      'the application in another case',
      () => ({ ...place, appId: place.appId.toUpperCase() }),
      (system: SystemBody) => system.resourceId,
    ],
  ])('answers 404 for %s', async (_case, at, resourceId) => {
    const system = await createdSystem(app, place);
    const { status, body } = await get(resourceId(system), at());
    expect(status).toBe(404);
    expect(body).toEqual(NOT_FOUND);
  });

  it.each([SystemType.Rest, SystemType.NoSqlDb])('answers 404 for a system of type %s', async (type) => {
    const { resourceId } = await insertSystem(app, place, { type });
    expect((await get(resourceId)).body).toEqual(NOT_FOUND);
  });

  it.each([
    ['appId', { appId: 'a b', versionId: 'v1' }, 'x'],
    ['versionId', { appId: 'a', versionId: 'v'.repeat(65) }, 'x'],
    ['systemResourceId', { appId: 'a', versionId: 'v1' }, 'x'.repeat(65)],
    ['systemResourceId', { appId: 'a', versionId: 'v1' }, '*'],
  ])('answers 400 for a malformed %s', async (field, at, resourceId) => {
    const { status, body } = await get(encodeURIComponent(resourceId), {
      appId: encodeURIComponent(at.appId),
      versionId: at.versionId,
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: 'Bad Request',
      details: `${field}: must be 1 to 64 letters, digits, ".", "_" or "-"`,
    });
  });

  it('checks the token, then the permission, then the path', async () => {
    expect((await get('%2A', place, null)).status).toBe(401);
    const { status, body } = await get('%2A', place, await app.tokenWith({ scope: 'openid' }));
    expect(status).toBe(403);
    expect(body).toMatchObject({ message: 'Insufficient permissions to access Integration Management' });
  });
});
