import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { v7 as uuid } from 'uuid';
import { rotateSecrets } from '../../../src/platform/secrets/sealed-columns.js';
import { SecretCipher, SecretUnreadableError } from '../../../src/platform/secrets/secret-cipher.js';
import { SystemConnectionsService } from '../../../src/systems/lookups/system-connections.service.js';
import { SystemSecrets } from '../../../src/systems/secrets/system-secrets.js';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { TestApp } from '../../support/app.js';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  detailsPath,
  serviceAccount,
  systemPath,
} from '../../support/factories.js';
import { keptPeers } from '../../support/peers/kept-peers.js';
import { startHttpPeer } from '../../support/peers/peer.js';
import { sendResult, startScriptedMcp } from '../../support/peers/scripted-mcp.peer.js';
import { packageDocument, publish, workflowOf } from '../../support/runtime/publish.js';
import { store } from '../builds/rows.js';
import { readSystem } from '../tools/tool-support.js';
import { runWorkflow } from '../workflows/workflow-package.js';
import { auditRows, countSystems, createdSystem, newPlace, systemRow, type Place } from './rows.js';

const VALUE = 'canary value: of/the+header';
const HEADERS = { 'X-Tenant': 'acme-corporation', 'x-client-token': VALUE };
const NAMES = ['x-client-token', 'X-Tenant'];
const baseUrl = 'https://mcp.example.com/mcp';

describe('static headers and the timeout of a system', () => {
  let app: TestApp;
  let place: Place;
  const keep = keptPeers();

  beforeAll(async () => {
    app = await TestApp.start({
      TOOL_CALLS: 'true',
      'restLimits.maxRetries': '0',
      'mcpCallLimits.maxTimeoutMs': '60000',
    });
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const created = (payload: Record<string, unknown> = { headers: HEADERS }) =>
    createdSystem(app, place, { payload: { baseUrl, ...payload } });
  const patch = (resourceId: string, body: object) =>
    app.request('PATCH', systemPath(resourceId, place.appId, place.versionId), { body });
  const put = (resourceId: string, body: object) =>
    app.request('PUT', `${systemPath(resourceId, place.appId, place.versionId)}/client-secret`, { body });
  const details = (resourceId: string) =>
    app.request('GET', detailsPath(resourceId, place.appId, place.versionId));
  const opened = async (id: string) => (await app.nest.get(SystemConnectionsService).byId(id))?.credentials;
  const test = (body: object) =>
    app.request('PATCH', connectionTestPath(place.appId, place.versionId), { body });
  /** Starts an MCP server with one tool that returns a header, and records the headers of each request. */
  const startEcho = async (call = true) => {
    const seen: unknown[] = [];
    const peer = await keep(
      startScriptedMcp({
        before: ({ headers }) => {
          seen.push([headers['x-tenant'], headers['x-client-token'], headers.authorization].join(' '));
          return false;
        },
        list: ({ id, response, request }) => {
          const token = String(request.headers['x-client-token']);
          const description = `${token} ${Buffer.from(token).toString('base64')}`;
          sendResult(response, id, { tools: [{ name: 'a', description, inputSchema: { type: 'object' } }] });
        },
        call: ({ id, response, request }) => {
          if (call) {
            const text = `It was ${String(request.headers['x-client-token'])}`;
            sendResult(response, id, { content: [{ type: 'text', text }] });
          }
        },
      }),
    );
    return { url: peer.url, seen, each: () => [...new Set(seen)] };
  };
  const callTool = async (resourceId: string) => {
    const { id, tools } = (await details(resourceId)).body as unknown as Awaited<
      ReturnType<typeof readSystem>
    >;
    const path =
      `/appmanager/api/runtime-internal/app/${place.appId}/app-version/${place.versionId}/rt/system/ri/${resourceId}` +
      `/integrationengine/api/systems/ri/${id}/tool/${tools[0]?.id}/call`;
    return app.request('POST', path, { body: {} });
  };

  it('are stored, and shown without header values', async () => {
    const system = await created({ headers: HEADERS, timeoutMs: 45_000 });
    expect(system).toMatchObject({ headerNames: NAMES, timeoutMs: 45_000 });
    const shown = await details(system.resourceId);
    expect(shown.body).toMatchObject({ headerNames: NAMES, timeoutMs: 45_000 });
    expect(await opened(system.id)).toEqual({ type: 'NO_AUTH', headers: HEADERS });
    const rows = JSON.stringify([await systemRow(app, system.id), await auditRows(app, place)]);
    expect(`${shown.text}${JSON.stringify(system)}${rows}`).not.toMatch(/canary|acme-corp/);
    const plain = await created({ headers: {} });
    expect(plain).not.toHaveProperty('headerNames');
    expect(plain).not.toHaveProperty('timeoutMs');
  });

  it.each([
    [{ headers: [] }, 'headers: must be an object with string values'],
    [{ headers: 'X-Tenant' }, 'headers: must be an object with string values'],
    ...[
      'authorization',
      'Host',
      'Content-Length',
      'Mcp-Session-Id',
      'Connection',
      'Transfer-Encoding',
      'Cookie',
      'Proxy-Authorization',
      'with blank',
      'line\r\nbreak',
      '',
    ].map((name): [object, string] => [
      { headers: { [name]: 'x' } },
      'headers: must name headers that can be set',
    ]),
    [{ headers: { 'X-A': '1', 'x-a': '2' } }, 'headers: must name each header once'],
    [
      { headers: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`x-${index}`, '1'])) },
      'headers: must have at most 16 headers',
    ],
    [{ headers: { 'X-A': 'x'.repeat(8_190) } }, 'headers: must have at most 8192 bytes'],
    ...['', ' x', 'x ', 'a\r\nX-B: 1', 'ä', 7, null].map((value): [object, string] => [
      { headers: { 'X-A': value } },
      'headers: must have values of printable ASCII',
    ]),
    [
      {
        headers: HEADERS,
        authorization: { type: 'API_KEY', configuration: { apiKey: 'key', headerName: 'X-TENANT' } },
      },
      'headers: must not name the header of the API key',
    ],
    ...[0, -1, 1.5, '9', 3_600_001].map((timeoutMs): [object, string] => [
      { timeoutMs },
      'timeoutMs: must be a whole number from 1 to 3600000',
    ]),
    [{ timeoutMs: 60_001 }, 'timeoutMs: must be at most 60000'],
  ])('are rejected if invalid: %j', async (payload, rule) => {
    const { status, body, text } = await app.request('PATCH', createPath(place.appId, place.versionId), {
      body: createSystemBody({ payload: payload as Record<string, unknown> }),
    });
    expect(status).toBe(400);
    expect(body['details']).toContain(`payload.${rule}`);
    expect(text).not.toContain('canary');
    expect(await countSystems(app, place)).toBe(0);
  });

  it('are replaced as a whole, kept if omitted, and removed by null', async () => {
    const { id, resourceId } = await created({ headers: HEADERS, timeoutMs: 1_000 });
    await patch(resourceId, { name: 'Other' });
    expect(await opened(id)).toMatchObject({ headers: HEADERS });
    const changed = await patch(resourceId, { headers: { 'X-Other': 'value' }, timeoutMs: 2_000 });
    expect(changed.body).toMatchObject({ headerNames: ['X-Other'], timeoutMs: 2_000 });
    expect(await opened(id)).toEqual({ type: 'NO_AUTH', headers: { 'X-Other': 'value' } });
    expect(await patch(resourceId, { timeoutMs: 60_001 })).toMatchObject({
      status: 400,
      body: { details: 'timeoutMs: must be at most 60000' },
    });
    const removed = await patch(resourceId, { headers: null, timeoutMs: null });
    expect(removed.body).not.toHaveProperty('headerNames');
    expect(await systemRow(app, id)).toMatchObject({ headers: null, headerNames: null, timeoutMs: null });
    const fields = (await auditRows(app, place)).map(({ details: each }) => each?.['fields']);
    const all = ['headers', 'headerNames', 'timeoutMs'];
    expect(fields).toEqual([undefined, ['name'], all, all]);
  });

  it('cannot name the header of the API key, whichever of the two changes', async () => {
    const apiKey = (headerName: string) => ({
      authorization: { type: 'API_KEY', configuration: { apiKey: 'the-key', headerName } },
    });
    const { resourceId } = await created({ headers: HEADERS, ...apiKey('X-Key') });
    const refused = { status: 400, body: { details: 'headers: must not name the header of the API key' } };
    expect(await patch(resourceId, apiKey('X-TENANT'))).toMatchObject(refused);
    expect(await patch(resourceId, { headers: { 'x-key': '1' } })).toMatchObject(refused);
  });

  it('must be sent again if the address changes', async () => {
    const { id, resourceId } = await created();
    const other = 'https://other.example.com/mcp';
    expect(await patch(resourceId, { baseUrl: other })).toMatchObject({
      status: 400,
      body: {
        message:
          'Changing baseUrl, identityProviderUrl or tls.caCertificates needs the stored secrets again.',
        details: 'headers: is required',
      },
    });
    expect((await patch(resourceId, { baseUrl: other, headers: HEADERS })).status).toBe(200);
    expect(await opened(id)).toMatchObject({ headers: HEADERS });
    expect((await patch(resourceId, { baseUrl, headers: null })).status).toBe(200);
  });

  it('can be replaced with new values for exactly the same names', async () => {
    const { id, resourceId } = await created();
    const next = { 'X-Tenant': 'next', 'x-client-token': 'next-token' };
    expect(await put(resourceId, { headers: next })).toMatchObject({
      status: 200,
      body: { message: 'Headers replaced.' },
    });
    expect(await opened(id)).toMatchObject({ headers: next });
    for (const headers of [{}, { 'X-Tenant': 'x' }, { ...next, 'X-More': 'x' }]) {
      expect(await put(resourceId, { headers })).toMatchObject({
        status: 409,
        body: { message: 'The system has other headers.' },
      });
    }
    expect((await put(resourceId, { headers: next, apiKey: 'a-key' })).status).toBe(400);
    expect((await put(resourceId, { headers: { 'X-Tenant': ' ' } })).status).toBe(400);
    const token = await app.tokenWith({ scope: 'openid tool:call' });
    const path = `${systemPath(resourceId, place.appId, place.versionId)}/client-secret`;
    const body = { headers: next };
    expect((await app.request('PUT', path, { body, token })).status).toBe(403);
    expect((await app.request('PUT', path, { body, token: null })).status).toBe(401);
    const gone = `${systemPath(uuid(), place.appId, place.versionId)}/client-secret`;
    expect((await app.request('PUT', gone, { body })).status).toBe(404);
  });

  it.each([
    ['base_url', 'http://127.0.0.1:2/mcp'],
    ['header_names', '["Authorization","x-client-token"]'],
    ['tls_ca', 'others'],
  ])('are not decrypted if %s was changed (%s)', async (column, value) => {
    const { id } = await created();
    await app.dataSource.query(`UPDATE systems SET ${column} = ? WHERE id = ?`, [value, id]);
    await expect(opened(id)).rejects.toThrow(SecretUnreadableError);
  });

  it('are re-encrypted by a key rotation', async () => {
    const { id } = await created();
    const next = { id: 'next', key: Buffer.alloc(32, 9) };
    const cipher = new SecretCipher([next, { id: 'test', key: Buffer.alloc(32, 7) }]);
    const { unreadable } = await rotateSecrets(app.dataSource.manager, cipher);
    expect(unreadable.filter((row) => row.includes(id))).toEqual([]);
    const row = await app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id });
    expect(row.headers).toMatch(/^svc2\.next\./);
    const read = new SystemSecrets(new SecretCipher([next])).open(row, row.headers ?? '', 'headers');
    expect(JSON.parse(read)).toEqual(HEADERS);
    await rotateSecrets(
      app.dataSource.manager,
      new SecretCipher([{ id: 'test', key: Buffer.alloc(32, 7) }, next]),
    );
  });

  it('are sent with every request of tests and calls, but not to the token endpoint or in responses', async () => {
    const echo = await startEcho();
    const tokenRequests: string[] = [];
    const tokens = await keep(
      startHttpPeer((request, response) => {
        tokenRequests.push(request.rawHeaders.join());
        response.setHeader('content-type', 'application/json');
        response.end('{"access_token":"the-token","token_type":"Bearer","expires_in":300}');
      }),
    );
    const authorization = serviceAccount({ identityProviderUrl: tokens.url });
    const payload = { baseUrl: echo.url, authorization, headers: HEADERS };
    const { resourceId } = await created(payload);
    await created({ baseUrl: echo.url, authorization });
    const answer = await test(payload);
    expect(answer.body).toMatchObject({
      status: 200,
      tools: [{ description: '[removed] [removed]' }],
      synchronizedSystems: [{ resourceId }],
    });
    expect(answer.body['synchronizedSystems']).toHaveLength(1);
    expect((await callTool(resourceId)).body).toMatchObject({ outcome: 'OK', text: 'It was [removed]' });
    expect(echo.seen.length).toBeGreaterThan(4);
    expect(echo.each()).toEqual([`acme-corporation ${VALUE} Bearer the-token`]);
    expect(tokenRequests.length).toBeGreaterThan(0);
    expect(tokenRequests.join()).not.toMatch(/canary|acme-corp/);
  });

  it('are not sent to the target of a redirect', async () => {
    const received: string[] = [];
    const elsewhere = await keep(
      startHttpPeer((request, response) => {
        received.push(request.rawHeaders.join());
        response.end();
      }),
    );
    const peer = await keep(
      startHttpPeer((_, response) => void response.writeHead(307, { location: elsewhere.url }).end()),
    );
    const body = { baseUrl: peer.url, authorization: { type: 'NO_AUTH' }, headers: HEADERS };
    expect((await test(body)).body['status']).not.toBe(200);
    expect(received).toEqual([]);
  });

  it('the timeout of a system ends a manual call', async () => {
    const echo = await startEcho(false);
    const payload = { baseUrl: echo.url, headers: HEADERS };
    const { resourceId } = await created({ ...payload, timeoutMs: 700 });
    await test({ ...payload, authorization: { type: 'NO_AUTH' } });
    expect((await callTool(resourceId)).body).toMatchObject({
      outcome: 'FAILED',
      message: 'No complete answer arrived in time.',
    });
  });

  describe('in a package', () => {
    const systemOf = (rest: object) => ({
      resourceName: 'Tools',
      type: 'MCP',
      name: 'Tools',
      baseUrl,
      ...rest,
    });
    const deliver = (system: object) =>
      store(app, place, packageDocument(place.appId, { package: { systems: [systemOf(system)] } }));
    const row = () =>
      app.dataSource
        .getRepository(SystemEntity)
        .findOneByOrFail({ appId: place.appId, resourceName: 'Tools' });

    it('are names without values, which are kept until the names or the address change', async () => {
      const headers = ['X-Tenant', 'x-client-token'];
      const first = await deliver({ headers, timeoutMs: 5_000 });
      expect(first.body).toMatchObject({ warnings: [{ code: 'SECRET_MISSING' }] });
      const { id, resourceId } = await row();
      expect((await details(resourceId)).body).toMatchObject({ headerNames: NAMES, timeoutMs: 5_000 });
      expect(await opened(id)).toEqual({
        type: 'NO_AUTH',
        headers: { 'X-Tenant': '', 'x-client-token': '' },
      });
      expect((await put(resourceId, { headers: HEADERS })).status).toBe(200);

      for (const same of [{ headers: headers.toReversed() }, {}]) {
        expect((await deliver(same)).body).toMatchObject({ warnings: [] });
        expect(await opened(id)).toMatchObject({ headers: HEADERS });
        expect(await row()).toMatchObject({ timeoutMs: 5_000 });
      }
      const moved = await deliver({ baseUrl: `${baseUrl}2`, timeoutMs: null });
      expect(moved.body).toMatchObject({ warnings: [{ code: 'SECRET_DROPPED' }] });
      expect(await row()).toMatchObject({ headers: null, timeoutMs: null });
      expect((await deliver({ baseUrl: `${baseUrl}2`, headers: [] })).body).toMatchObject({ warnings: [] });
      expect(await row()).toMatchObject({ headerNames: null });
    });

    it('prevent a connection test until all values are set', async () => {
      const echo = await startEcho();
      await deliver({ baseUrl: echo.url, headers: ['X-Tenant'] });
      const { resourceId } = await row();
      const path =
        `/appmanager/api/runtime-internal/app/${place.appId}/app-version/${place.versionId}/rt/system` +
        `/ri/${resourceId}/integrationengine/api/systems/test-mcp-connection`;
      expect((await app.request('POST', path)).body).toMatchObject({ status: 400 });
      expect(echo.seen).toEqual([]);
    });

    it.each([
      ['SECRET_IN_PACKAGE', { headers: HEADERS }],
      ['HEADERS_INVALID', { headers: ['Host'] }],
      ['HEADERS_INVALID', { headers: ['X-A', 'x-a'] }],
      [
        'HEADERS_INVALID',
        { headers: ['x-key'], authorization: { type: 'API_KEY', configuration: { headerName: 'X-Key' } } },
      ],
      ['VALUE_INVALID', { headers: Array.from({ length: 17 }, (_, index) => `x-${index}`) }],
      ['VALUE_INVALID', { timeoutMs: 0 }],
    ])('are rejected as %s: %j', async (code, system) => {
      const answer = await deliver(system);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ problems: [{ code }] });
      expect(answer.text).not.toContain('canary');
    });

    it('are sent by REST nodes, and removed from their responses', async () => {
      const seen: unknown[] = [];
      const rest = await keep(
        startHttpPeer(({ headers }, response) => {
          seen.push(headers['x-tenant']);
          response.setHeader('content-type', 'application/json');
          response.end(JSON.stringify({ was: headers['x-tenant'] }));
        }),
      );
      const payload = { system: { resourceName: 'Scores' }, method: 'GET', path: '/' };
      const node = { id: 'call', type: 'REST_ENDPOINT', responseKey: 'answer', payload };
      const systems = [
        { resourceName: 'Scores', type: 'REST', name: 'Scores', baseUrl: rest.url, headers: ['X-Tenant'] },
      ];
      const { appId, versionId, buildId } = await publish(app, {
        package: { systems, workflows: [workflowOf('flow', [node])] },
      });
      const run = () => runWorkflow(app, buildId, 'flow', { input: {}, runKey: uuid() });
      await expect(run()).rejects.toMatchObject({ code: 'REST_CALL_FAILED' });
      expect(seen).toEqual([]);
      const { resourceId } = await app.dataSource
        .getRepository(SystemEntity)
        .findOneByOrFail({ appId, resourceName: 'Scores' });
      const path = `${systemPath(resourceId, appId, versionId)}/client-secret`;
      const value = 'acme-corporation';
      expect((await app.request('PUT', path, { body: { headers: { 'X-Tenant': value } } })).status).toBe(200);
      expect(JSON.stringify(await run())).not.toContain(value);
      expect(seen).toEqual([value]);
    });
  });
});
