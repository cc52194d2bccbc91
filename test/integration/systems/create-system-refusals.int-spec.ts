import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, serviceAccount } from '../../support/factories.js';
import { commitVersion, countSystems, newPlace, withField, type Place } from './rows.js';

const NAME_CHARACTERS =
  'Name can only contain letters, numbers and the following special characters [] () . _ -';
const URL_RULE = 'must be an http or https URL';
const CONFIGURATION = 'payload.authorization.configuration';

const validBody = () => createSystemBody({ payload: { authorization: serviceAccount() } });

describe('the create operation', () => {
  let app: TestApp;
  let place: Place;

  beforeAll(async () => {
    app = await TestApp.shared();
    place = newPlace();
  });
  afterAll(async () => {
    expect(await countSystems(app, place)).toBe(0);
    await app.close();
  });

  const create = (body: unknown, token?: string | null) =>
    app.request('PATCH', createPath(place.appId, place.versionId), {
      body,
      ...(token === undefined ? {} : { token }),
    });

  it('answers 401 without a token', async () => {
    const { status, body, headers } = await create(validBody(), null);
    expect(status).toBe(401);
    expect(body).toMatchObject({ error: 'Unauthorized', status: 401 });
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  it('answers 403 with the message of the contract without the permission', async () => {
    const { status, body } = await create(validBody(), await app.tokenWith({ scope: 'openid profile' }));
    expect(status).toBe(403);
    expect(body).toEqual({
      error: 'Forbidden',
      message: 'Insufficient permissions to access Integration Management',
      status: 403,
    });
  });

  it.each([
    ['action', undefined, 'must be CREATE'],
    ['action', 'UPDATE', 'must be CREATE'],
    ['action', 'create', 'must be CREATE'],
    ['action', ['CREATE'], 'must be CREATE'],
    ['resourceName', undefined, 'must be a string'],
    ['resourceName', null, 'must be a string'],
    ['resourceName', 7, 'must be a string'],
    ['resourceName', ['name'], 'must be a string'],
    ['resourceName', '', 'must have 1 to 255 characters'],
    ['resourceName', 'a'.repeat(256), 'must have 1 to 255 characters'],
    ['payload', undefined, ''],
    ['payload', null, ''],
    ['payload', [], ''],
    ['payload', 'text', ''],
    ['payload.name', undefined, ''],
    ['payload.name', '', 'must'],
    ['payload.name', ' \t\n', 'must not be blank'],
    ['payload.name', 'n'.repeat(256), 'must have 1 to 255 characters'],
    ['payload.name', '\u2764\ufe0f'.repeat(128), 'must have 1 to 255 characters'],
    ['payload.name', 'a\u0000b', 'must not contain control characters'],
    ['payload.name', '\u001b[31m', 'must not contain control characters'],
    ...['a\nb', 'a\tb', 'a\u0085b', 'a\u2028b', 'a\u202eb', '\u2066a', 'a\u200f', 'a\u061c'].map(
      (name) => ['payload.name', name, 'must be one line without characters'] as [string, unknown, string],
    ),
    ...['a\u200b', 'a\u2060b', '\ufeffa', 'a\u{e0041}', 'a\u{e007f}', 'a\u00adb', '\u3164'].map(
      (name) => ['payload.name', name, 'must not contain invisible characters'] as [string, unknown, string],
    ),
    ['payload.name', 'half \ud83d', 'must not contain half of a surrogate pair'],
    ['payload.name', 7, 'must'],
    ['payload.name', { text: 'x' }, ''],
    ['payload.type', undefined, 'must be MCP'],
    ['payload.type', 'REST', 'must be MCP'],
    ['payload.type', 'NOSQL_DB', 'must be MCP'],
    ['payload.type', 'mcp', 'must be MCP'],
    ['payload.description', 'd'.repeat(2_001), 'must have 0 to 2000 characters'],
    ['payload.description', 7, 'must be a string'],
    ['payload.description', 'a\u0007', 'must not contain control characters'],
    ['payload.baseUrl', undefined, URL_RULE],
    ['payload.baseUrl', null, URL_RULE],
    ['payload.baseUrl', '', URL_RULE],
    ['payload.baseUrl', 7, URL_RULE],
    ['payload.baseUrl', ['https://mcp.example.com'], URL_RULE],
    ['payload.baseUrl', 'mcp.example.com', URL_RULE],
    ['payload.baseUrl', '//mcp.example.com', URL_RULE],
    ['payload.baseUrl', 'https:mcp.example.com', URL_RULE],
    ['payload.baseUrl', 'https:///mcp.example.com', URL_RULE],
    ['payload.baseUrl', 'ftp://mcp.example.com', URL_RULE],
    ['payload.baseUrl', 'file:///etc/passwd', URL_RULE],
    ['payload.baseUrl', 'javascript:alert(1)', URL_RULE],
    ['payload.baseUrl', 'https://user@mcp.example.com', URL_RULE],
    ['payload.baseUrl', 'https://user:word@mcp.example.com', URL_RULE],
    ['payload.baseUrl', 'https://mcp.example.com/#part', URL_RULE],
    ['payload.baseUrl', 'https://mcp.example.com/#', URL_RULE],
    ['payload.baseUrl', ' https://mcp.example.com', URL_RULE],
    ['payload.baseUrl', 'https://mcp.example.com/\n', URL_RULE],
    ['payload.baseUrl', 'https://mcp.example.com:99999', URL_RULE],
    ['payload.baseUrl', 'https://bücher.example/ü', URL_RULE],
    ['payload.baseUrl', 'https://user@bücher.example', URL_RULE],
    ['payload.baseUrl', 'https://bü cher.example', URL_RULE],
    ['payload.baseUrl', 'https://\u202ebücher.example', URL_RULE],
    ['payload.baseUrl', `https://mcp.example.com/${'a'.repeat(2_048)}`, URL_RULE],
    ['payload.authorization', undefined, ''],
    ['payload.authorization', null, ''],
    ['payload.authorization', 'NO_AUTH', ''],
    ['payload.authorization', [{ type: 'NO_AUTH' }], ''],
    ['payload.authorization.type', undefined, 'must be NO_AUTH, SERVICE_ACCOUNT or API_KEY'],
    ['payload.authorization.type', 'no_auth', 'must be NO_AUTH, SERVICE_ACCOUNT or API_KEY'],
    ['payload.authorization.type', 'OAUTH2', 'must be NO_AUTH, SERVICE_ACCOUNT or API_KEY'],
    ['payload.authorization.type', ['NO_AUTH'], 'must be NO_AUTH, SERVICE_ACCOUNT or API_KEY'],
    [CONFIGURATION, undefined, ''],
    [CONFIGURATION, null, ''],
    [CONFIGURATION, 'text', ''],
    [CONFIGURATION, [], ''],
    [`${CONFIGURATION}.clientId`, undefined, ''],
    [`${CONFIGURATION}.clientId`, '', 'must have 1 to 255 characters'],
    [`${CONFIGURATION}.clientId`, 'c'.repeat(256), 'must have 1 to 255 characters'],
    [`${CONFIGURATION}.clientId`, 'clïent', 'must be printable ASCII'],
    [`${CONFIGURATION}.clientSecret`, undefined, ''],
    [`${CONFIGURATION}.clientSecret`, null, ''],
    [`${CONFIGURATION}.clientSecret`, '', 'must have 1 to 1024 characters'],
    [`${CONFIGURATION}.clientSecret`, 7, ''],
    [`${CONFIGURATION}.clientSecret`, 's'.repeat(1_025), 'must have 1 to 1024 characters'],
    [`${CONFIGURATION}.clientSecret`, 'hush\r\nX-Header: 1', 'must be printable ASCII'],
    [`${CONFIGURATION}.identityProviderUrl`, undefined, URL_RULE],
    [`${CONFIGURATION}.identityProviderUrl`, 'sso.example.com', URL_RULE],
    [`${CONFIGURATION}.identityProviderUrl`, 'https://a:b@sso.example.com/token', URL_RULE],
  ])('answers 400 with the field name if %s is %j', async (field, value, rule) => {
    const { status, body, text } = await create(withField(validBody(), field, value));

    expect(status).toBe(400);
    expect(body).toMatchObject({ error: 'Bad Request', message: expect.any(String), status: 400 });
    // The contract defines this message for invalid characters in a name, not for a missing or too long name.
    expect(body['message']).not.toBe(NAME_CHARACTERS);
    expect(body['details']).toMatch(new RegExp(`(^|; )${field.replaceAll('.', '\\.')}: `));
    expect(body['details']).toContain(rule);
    expect(text).not.toContain('battery');
    expect(text).not.toContain('hush');
  });

  it.each([['a b'], ['a/b'], ['ä'], ['a\n'], ['a@b'], ['a{}'], ['😀'], ['a\u0000']])(
    'answers 400 with the message of the contract for the name %j',
    async (resourceName) => {
      const { status, body } = await create({ ...validBody(), resourceName });
      expect(status).toBe(400);
      expect(body['message']).toBe(NAME_CHARACTERS);
      expect(body['details']).toBe(`resourceName: ${NAME_CHARACTERS}`);
    },
  );

  it.each([
    ['svcUuid'],
    ['payload.tools'],
    ['payload.id'],
    ['payload.authorization.config'],
    [`${CONFIGURATION}.realm`],
    ['payload.toString'],
    ['constructor'],
  ])('answers 400 with the field name for the unknown field %s', async (field) => {
    const { status, body } = await create(withField(validBody(), field, 1));
    expect(status).toBe(400);
    expect(body['details']).toBe(`${field}: is not a known field`);
  });

  it('reports all invalid fields', async () => {
    const { body } = await create({ action: 'X', resourceName: 'a b', payload: { type: 'X' }, extra: 1 });
    for (const field of ['action', 'resourceName', 'payload.name', 'payload.type', 'extra']) {
      expect(body['details']).toContain(`${field}: `);
    }
    expect(body['message']).toBe(NAME_CHARACTERS);
  });

  it.each([
    ['appId', 'a'.repeat(65), 'v1'],
    ['appId', 'a%20b', 'v1'],
    ['appId', 'a%2Fb', 'v1'],
    ['appId', '%C3%A4', 'v1'],
    ['versionId', 'app', 'v'.repeat(65)],
    ['versionId', 'app', 'v:1'],
    ['versionId', 'app', '%00'],
    ['versionId', 'app', "v1'--"],
  ])(
    'answers 400 with the field name if %s is invalid in the path /app/%s/app-version/%s',
    async (field, appId, versionId) => {
      const { status, body } = await app.request('PATCH', createPath(appId, versionId), {
        body: validBody(),
      });
      expect(status).toBe(400);
      expect(body['details']).toBe(`${field}: must be 1 to 64 letters, digits, ".", "_" or "-"`);
    },
  );

  it('checks the token, then the permission, then the request, then the stored state', async () => {
    const committed = newPlace();
    await commitVersion(app, committed);
    const path = createPath(committed.appId, committed.versionId);
    const bad = createPath('a b', 'v1');
    const denied = await app.tokenWith({ scope: 'openid' });

    expect((await app.request('PATCH', bad, { token: null, rawBody: '{' })).status).toBe(401);
    expect((await app.request('PATCH', bad, { token: denied, rawBody: '{' })).status).toBe(403);
    expect((await app.request('PATCH', path, { body: { ...validBody(), action: 'X' } })).status).toBe(400);
    expect((await app.request('PATCH', path, { body: validBody() })).status).toBe(409);
  });
});
