import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { connectionTestPath, serviceAccount } from '../../support/factories.js';
import { startToolListPeer, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import { withField } from '../systems/rows.js';

const URL_RULE = 'must be an http or https URL';
const TYPE_RULE = 'must be NO_AUTH, SERVICE_ACCOUNT or API_KEY';
const CONFIGURATION = 'authorization.configuration';

describe('the connection test', () => {
  let app: TestApp;
  let server: ScriptedMcpPeer;

  beforeAll(async () => {
    app = await TestApp.shared({ 'httpLimits.bodyBytes': '8192' });
    server = await startToolListPeer([]);
  });
  afterAll(async () => {
    // None of the rejected requests may have caused an outbound call.
    expect(server.seen).toEqual([]);
    await app.close();
    await server.close();
  });

  const validBody = () => ({ baseUrl: server.url, authorization: serviceAccount() });
  const test = (body: unknown, path = connectionTestPath()) => app.request('PATCH', path, { body });

  it('answers 401 without a token', async () => {
    const { status, body, headers } = await app.request('PATCH', connectionTestPath(), {
      token: null,
      body: validBody(),
    });
    expect(status).toBe(401);
    expect(body).toMatchObject({ error: 'Unauthorized', status: 401 });
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  it('answers 403 with the message of the contract without the permission', async () => {
    const { status, body } = await app.request('PATCH', connectionTestPath(), {
      token: await app.tokenWith({ scope: 'openid profile' }),
      body: validBody(),
    });
    expect(status).toBe(403);
    expect(body).toEqual({
      error: 'Forbidden',
      message: 'Insufficient permissions to access Integration Management',
      status: 403,
    });
  });

  it.each([
    ['baseUrl', undefined, URL_RULE],
    ['baseUrl', null, URL_RULE],
    ['baseUrl', '', URL_RULE],
    ['baseUrl', 7, URL_RULE],
    ['baseUrl', ['https://mcp.example.com'], URL_RULE],
    ['baseUrl', { href: 'https://mcp.example.com' }, URL_RULE],
    ['baseUrl', 'mcp.example.com', URL_RULE],
    ['baseUrl', '/mcp', URL_RULE],
    ['baseUrl', 'ftp://mcp.example.com', URL_RULE],
    ['baseUrl', 'file:///etc/passwd', URL_RULE],
    ['baseUrl', 'ws://mcp.example.com', URL_RULE],
    ['baseUrl', 'https://user:hush@mcp.example.com/', URL_RULE],
    ['baseUrl', 'https://mcp.example.com/#part', URL_RULE],
    ['baseUrl', 'https://mcp.example.com/\r\nX-Header: 1', URL_RULE],
    ['baseUrl', `https://mcp.example.com/${'a'.repeat(2_048)}`, URL_RULE],
    ['authorization', undefined, 'is required'],
    ['authorization', null, ''],
    ['authorization', 'NO_AUTH', ''],
    ['authorization', [{ type: 'NO_AUTH' }], ''],
    ['authorization.type', undefined, TYPE_RULE],
    ['authorization.type', null, TYPE_RULE],
    ['authorization.type', 'BASIC', TYPE_RULE],
    ['authorization.type', 'service_account', TYPE_RULE],
    [CONFIGURATION, undefined, 'is required unless type is NO_AUTH'],
    [CONFIGURATION, null, ''],
    [CONFIGURATION, 'text', ''],
    [CONFIGURATION, [], ''],
    [`${CONFIGURATION}.clientId`, undefined, ''],
    [`${CONFIGURATION}.clientId`, '', 'must have 1 to 255 characters'],
    [`${CONFIGURATION}.clientId`, 'clïent', 'must be printable ASCII'],
    [`${CONFIGURATION}.clientSecret`, undefined, ''],
    [`${CONFIGURATION}.clientSecret`, null, ''],
    [`${CONFIGURATION}.clientSecret`, '', 'must have 1 to 1024 characters'],
    [`${CONFIGURATION}.clientSecret`, 'hush\n', 'must be printable ASCII'],
    [`${CONFIGURATION}.clientSecret`, 'hush'.repeat(300), 'must have 1 to 1024 characters'],
    [`${CONFIGURATION}.identityProviderUrl`, undefined, URL_RULE],
    [`${CONFIGURATION}.identityProviderUrl`, 'sso.example.com', URL_RULE],
    [`${CONFIGURATION}.identityProviderUrl`, 'https://a:hush@sso.example.com/token', URL_RULE],
    [`${CONFIGURATION}.identityProviderUrl`, 'file:///etc/passwd', URL_RULE],
  ])('answers 400 with the field name if %s is %j', async (field, value, rule) => {
    const { status, body, text } = await test(withField(validBody(), field, value));

    expect(status).toBe(400);
    expect(body).toMatchObject({ error: 'Bad Request', message: expect.any(String), status: 400 });
    expect(body['details']).toMatch(new RegExp(`(^|; )${field.replaceAll('.', '\\.')}: `));
    expect(body['details']).toContain(rule);
    expect(text).not.toContain('battery');
    expect(text).not.toContain('hush');
  });

  it.each(['timeout', 'resourceName', 'payload', 'authorization.config', `${CONFIGURATION}.realm`])(
    'answers 400 with the field name for the unknown field %s',
    async (field) => {
      const { status, body } = await test(withField(validBody(), field, 1));
      expect(status).toBe(400);
      expect(body['details']).toBe(`${field}: is not a known field`);
    },
  );

  it.each([
    ['no body', {}, 'Request validation failed.'],
    ['null', { body: null }, undefined],
    ['a list', { body: [] }, undefined],
    ['a text', { body: 'text' }, undefined],
    ['broken JSON', { rawBody: '{"baseUrl":' }, 'Request body is not valid JSON.'],
    [
      'another content type',
      { rawBody: '{}', headers: { 'content-type': 'text/plain' } },
      'Content-Type must be application/json.',
    ],
    ['too large a body', { rawBody: `{"baseUrl":"${'x'.repeat(9_000)}"}` }, 'Request body is too large.'],
  ])('answers 400 for %s', async (_case, request, message) => {
    const { status, body } = await app.request('PATCH', connectionTestPath(), request);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: 'Bad Request', status: 400 });
    expect(body['message']).toEqual(message ?? expect.any(String));
  });

  it.each([
    ['appId', 'a%20b', 'v1'],
    ['appId', 'a'.repeat(65), 'v1'],
    ['appId', '%F0%9F%A4%96', 'v1'],
    ['versionId', 'app', 'v'.repeat(65)],
    ['versionId', 'app', 'v%2F1'],
    ['versionId', 'app', 'v:1'],
  ])('answers 400 for a malformed %s in /app/%s/app-version/%s', async (field, appId, versionId) => {
    const { status, body } = await test(validBody(), connectionTestPath(appId, versionId));
    expect(status).toBe(400);
    expect(body['details']).toBe(`${field}: must be 1 to 64 letters, digits, ".", "_" or "-"`);
  });

  it('checks the token, then the permission, then path and body', async () => {
    const bad = connectionTestPath('a%20b', 'v1');
    const token = await app.tokenWith({ scope: 'openid' });
    expect((await app.request('PATCH', bad, { token: null, rawBody: '{' })).status).toBe(401);
    expect((await app.request('PATCH', bad, { token, rawBody: '{' })).status).toBe(403);
    expect((await app.request('PATCH', bad, { rawBody: '{' })).status).toBe(400);
  });
});
