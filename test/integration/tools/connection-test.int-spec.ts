import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  CONNECTION_FAILURES,
  type ConnectionFailureCause,
} from '../../../src/systems/mcp-connection/model/connection-failure.types.js';
import { AuditAction } from '../../../src/audit/model/audit.types.js';
import { TestApp } from '../../support/app.js';
import { connectionTestPath, serviceAccount } from '../../support/factories.js';
import {
  startEverything,
  type ProcessPeer,
  startModernPeer,
  type ModernPeer,
} from '../../support/peers/official.peers.js';
import { startOAuthPeer } from '../../support/oidc-issuer.js';
import { hugeAnswer, neverAnswers } from '../../support/peers/pathologies.js';
import { startHttpPeer, type Peer } from '../../support/peers/peer.js';
import { auditRows } from '../systems/rows.js';
import { createSystem, flags, readSystem, testConnection, type ConnectionTestBody } from './tool-support.js';

const CLIENT = {
  clientId: 'agent',
  clientSecret: 'a secret of thirty-two characters!',
  method: 'client_secret_basic',
} as const;
const noAuth = { type: 'NO_AUTH' };

describe('PATCH /runtime-internal/app/{appId}/app-version/{versionId}/rt/system/integrationengine/api/systems/test-mcp-connection', () => {
  let app: TestApp;
  let everything: ProcessPeer;
  let everythingSse: ProcessPeer;
  let modern: ModernPeer;
  let guarded: ModernPeer;
  let tokens: Awaited<ReturnType<typeof startOAuthPeer>>;
  let silent: Peer;
  let huge: Peer;
  /** A closed peer, so nothing listens on its port. */
  let gone: Peer;

  beforeAll(async () => {
    app = await TestApp.start();
    [everything, everythingSse] = await Promise.all([
      startEverything('streamableHttp'),
      startEverything('sse'),
    ]);
    modern = await startModernPeer([{ name: 'echo', description: 'Echoes' }]);
    tokens = await startOAuthPeer([CLIENT], () => guarded.url);
    guarded = await startModernPeer([{ name: 'secret-echo' }], (token) => tokens.isIssued(token));
    silent = await startHttpPeer(neverAnswers);
    huge = await startHttpPeer(hugeAnswer(false));
    gone = await startHttpPeer(neverAnswers);
    await gone.close();
  });
  afterAll(async () => {
    await app.close();
    await Promise.all(
      [everything, everythingSse, modern, guarded, tokens, silent, huge].map((peer) => peer.close()),
    );
  });

  const credentials = (change: Record<string, unknown> = {}): Record<string, unknown> =>
    serviceAccount({
      clientId: CLIENT.clientId,
      clientSecret: CLIENT.clientSecret,
      identityProviderUrl: tokens.url,
      ...change,
    });

  it.each([
    ['Streamable HTTP', () => everything.url, 'streamable-http', '2025-11-25'],
    ['HTTP+SSE', () => everythingSse.url, 'sse', '2025-11-25'],
    ['protocol 2026-07-28', () => modern.url, 'streamable-http', '2026-07-28'],
  ])('lists the tools of a server that speaks %s', async (_name, url, transport, protocolVersion) => {
    const { status, body } = await testConnection(app, { baseUrl: url() });

    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 200, message: 'Connection successful', transport, protocolVersion });
    const echo = body.tools?.find(({ name }) => name === 'echo');
    expect(Object.keys(echo ?? {}).toSorted()).toEqual(['description', 'inputSchema', 'name']);
    expect(echo?.inputSchema).toMatchObject({ type: 'object' });
    expect(body.synchronizedSystems).toEqual([]);
  });

  it('gets a token for a service account and stores the tools of the system with that connection', async () => {
    const system = await createSystem(app, { baseUrl: guarded.url, authorization: credentials() });

    const { body } = await testConnection(app, { baseUrl: guarded.url, authorization: credentials() });

    expect(body).toMatchObject({ status: 200, message: 'Connection successful' });
    expect(body.synchronizedSystems?.map(({ resourceId }) => resourceId)).toEqual([system.resourceId]);
    expect(flags((await readSystem(app, system.resourceId)).tools)).toEqual(['secret-echo']);
  });

  it.each([
    [
      'the token endpoint rejects the secret',
      () => credentials({ clientSecret: 'hush' }),
      CONNECTION_FAILURES.invalid_client,
    ],
    [
      'the token endpoint does not know the client',
      () => credentials({ clientId: 'stranger' }),
      CONNECTION_FAILURES.invalid_client,
    ],
    ['the server requires credentials', () => noAuth, CONNECTION_FAILURES.unauthorized],
  ])('reports rejected credentials in the body when %s', async (_case, authorization, details) => {
    const response = await testConnection(app, { baseUrl: guarded.url, authorization: authorization() });

    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      status: 400,
      message: 'Connection failed: Invalid authentication credentials',
      details,
      latencyMs: expect.any(Number),
    });
    expect(response.text).not.toContain('hush');
  });

  it('reports rejected credentials when the server rejects a valid token', async () => {
    const rejecting = await startModernPeer([{ name: 'echo' }], () => false);
    const response = await testConnection(app, { baseUrl: rejecting.url, authorization: credentials() });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      status: 400,
      message: 'Connection failed: Invalid authentication credentials',
    });
    expect(response.body).not.toHaveProperty('tools');
    await rejecting.close();
  });

  it.each<[string, () => string, ConnectionFailureCause]>([
    ['nothing listens there', () => gone.url, 'refused'],
    ['the address is link-local', () => 'http://169.254.169.254/latest/meta-data', 'blocked'],
    ['the address is private', () => 'http://10.0.0.1/mcp', 'blocked'],
    ['its port is forbidden', () => 'http://127.0.0.1:6000/mcp', 'port'],
    ['the host does not exist', () => 'http://nowhere.invalid/mcp', 'dns'],
    ['it is not an MCP server', () => `${app.url}/livez`, 'not_mcp'],
    ['it does not support TLS', () => modern.url.replace('http:', 'https:'), 'tls'],
  ])('reports an unreachable server in the body when %s', async (_case, url, cause) => {
    const response = await testConnection(app, { baseUrl: url() });

    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      status: 500,
      message: 'Connection failed: MCP server is unreachable',
      details: CONNECTION_FAILURES[cause],
      latencyMs: expect.any(Number),
    });
  });

  it.each<[string, () => string, ConnectionFailureCause]>([
    ['refuses connections', () => gone.url, 'token_refused'],
    ['is link-local', () => 'http://169.254.169.254/token', 'token_blocked'],
    ['has a forbidden port', () => 'http://127.0.0.1:10080/token', 'token_port'],
    ['does not exist', () => 'http://nowhere.invalid/token', 'token_dns'],
    ['issues no token', () => `${app.url}/livez`, 'token_invalid'],
  ])('reports an unreachable server when the token endpoint %s', async (_case, url, cause) => {
    const authorization = credentials({ identityProviderUrl: url() });
    const response = await testConnection(app, { baseUrl: guarded.url, authorization });

    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      status: 500,
      message: 'Connection failed: MCP server is unreachable',
      details: CONNECTION_FAILURES[cause],
      latencyMs: expect.any(Number),
    });
  });

  it.each<[string, () => Parameters<typeof testConnection>[1], ConnectionFailureCause]>([
    ['the MCP server', () => ({ baseUrl: huge.url }), 'too_large'],
    [
      'the token endpoint',
      () => ({ baseUrl: guarded.url, authorization: credentials({ identityProviderUrl: huge.url }) }),
      'token_too_large',
    ],
  ])(
    'reports that the answer of %s is too large, instead of an unreachable server',
    async (_case, tested, cause) => {
      const { status, body } = await testConnection(app, tested());

      expect(status).toBe(200);
      expect(body).toEqual({
        status: 500,
        message: 'Connection failed: The answer is larger than allowed',
        details: CONNECTION_FAILURES[cause],
        latencyMs: expect.any(Number),
      });
    },
  );

  it('ends at the deadline if the server or the token endpoint does not answer', async () => {
    const hasty = await TestApp.start({ 'mcpLimits.testTimeoutMs': '4000' });
    // The first test starts the worker, which may take longer than the deadline.
    await vi.waitFor(async () =>
      expect((await testConnection(hasty, { baseUrl: guarded.url })).body.status).toBe(400),
    );
    const authorization = credentials({ identityProviderUrl: silent.url });
    // Sequentially, because concurrent slow tests may be rejected with a request to retry.
    const answers = [
      await testConnection(hasty, { baseUrl: silent.url }),
      await testConnection(hasty, { baseUrl: guarded.url, authorization }),
    ];

    expect(answers.map(({ status, body }) => [status, body.status, body.details])).toEqual([
      [200, 500, CONNECTION_FAILURES.timeout],
      [200, 500, CONNECTION_FAILURES.token_timeout],
    ]);
    await hasty.close();
  });

  it('keeps the stored tools if the server is unreachable', async () => {
    const peer = await startModernPeer([{ name: 'stays' }]);
    const system = await createSystem(app, { baseUrl: peer.url });
    await testConnection(app, { baseUrl: peer.url });
    await peer.close();

    expect((await testConnection(app, { baseUrl: peer.url })).body.status).toBe(500);
    expect(flags((await readSystem(app, system.resourceId)).tools)).toEqual(['stays']);
  });
});

describe('POST /runtime-internal/app/{appId}/app-version/{versionId}/rt/system/ri/{systemResourceId}/integrationengine/api/systems/test-mcp-connection', () => {
  let app: TestApp;
  let guarded: ModernPeer;
  let tokens: Awaited<ReturnType<typeof startOAuthPeer>>;

  beforeAll(async () => {
    app = await TestApp.start();
    tokens = await startOAuthPeer([CLIENT], () => guarded.url);
    guarded = await startModernPeer([{ name: 'secret-echo' }], (token) => tokens.isIssued(token));
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([guarded.close(), tokens.close()]);
  });

  const path = (resourceId: string): string =>
    connectionTestPath().replace('/rt/system/', `/rt/system/ri/${resourceId}/`);
  const create = (clientSecret: string) => {
    const { clientId } = CLIENT;
    const authorization = serviceAccount({ clientId, clientSecret, identityProviderUrl: tokens.url });
    return createSystem(app, { baseUrl: guarded.url, authorization });
  };

  it('uses the stored secret without exposing it', async () => {
    const { resourceId } = await create(CLIENT.clientSecret);
    const { status, body, text } = await app.request<ConnectionTestBody>('POST', path(resourceId));
    expect([status, body.status, body.message]).toEqual([200, 200, 'Connection successful']);
    expect(body.synchronizedSystems?.map((one) => one.resourceId)).toEqual([resourceId]);
    expect(text).not.toContain(CLIENT.clientSecret);
    expect(flags((await readSystem(app, resourceId)).tools)).toEqual(['secret-echo']);
  });

  it('reports that the stored secret is wrong', async () => {
    const { resourceId } = await create('another secret of many characters!');
    const { status, body } = await app.request<ConnectionTestBody>('POST', path(resourceId));
    expect([status, body.status, body.details]).toEqual([200, 400, CONNECTION_FAILURES.invalid_client]);
    expect((await readSystem(app, resourceId)).tools).toEqual([]);
  });

  it('is in the audit log of the system, whether or not it succeeded', async () => {
    const right = await create(CLIENT.clientSecret);
    const wrong = await create('a wrong secret of many characters!');
    for (const { resourceId } of [right, wrong]) {
      await app.request('POST', path(resourceId));
    }
    const tests = (await auditRows(app, { appId: 'app', versionId: 'v1' })).filter(
      ({ action }) => action === AuditAction.ConnectionTest,
    );
    expect(tests.slice(-2)).toMatchObject([
      { outcome: 'ok', appId: 'app', appVersionId: 'v1', systemResourceId: right.resourceId },
      { outcome: 'error', appId: 'app', appVersionId: 'v1', systemResourceId: wrong.resourceId },
    ]);
  });

  it('answers 401, 403, 404 and 405', async () => {
    const { resourceId } = await create(CLIENT.clientSecret);
    const statuses = [
      await app.request('POST', path(resourceId), { token: null }),
      await app.request('POST', path(resourceId), { token: await app.tokenWith({ scope: 'openid' }) }),
      await app.request('POST', path('gone')),
      await app.request('PATCH', path(resourceId)),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 403, 404, 405]);
  });
});
