import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONNECTION_FAILURES } from '../../../src/modules/mcp-connection/connection-failure.types.js';
import { TestApp } from '../../support/app.js';
import { serviceAccount } from '../../support/factories.js';
import { startEverything, type ProcessPeer } from '../../support/peers/everything.peer.js';
import { startModernPeer, type ModernPeer } from '../../support/peers/modern.peer.js';
import { startOAuthPeer } from '../../support/peers/oauth.peer.js';
import { neverAnswers } from '../../support/peers/pathologies.js';
import { startHttpPeer, type Peer } from '../../support/peers/peer.js';
import { createSystem, flags, readSystem, testConnection } from './tool-support.js';

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

  beforeAll(async () => {
    app = await TestApp.start({ MCP_TEST_TIMEOUT_MS: '4000' });
    [everything, everythingSse] = await Promise.all([
      startEverything('streamableHttp'),
      startEverything('sse'),
    ]);
    modern = await startModernPeer([{ name: 'echo', description: 'Echoes' }]);
    tokens = await startOAuthPeer([CLIENT], () => guarded.url);
    guarded = await startModernPeer([{ name: 'secret-echo' }], (token) => tokens.isIssued(token));
    silent = await startHttpPeer(neverAnswers);
  });
  afterAll(async () => {
    await app.close();
    await Promise.all(
      [everything, everythingSse, modern, guarded, tokens, silent].map((peer) => peer.close()),
    );
  });

  const credentials = (clientSecret: string = CLIENT.clientSecret): Record<string, unknown> =>
    serviceAccount({ clientId: CLIENT.clientId, clientSecret, identityProviderUrl: tokens.url });

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

  it('gets a token for a service account and fills the tools of the system with that connection', async () => {
    const system = await createSystem(app, { baseUrl: guarded.url, authorization: credentials() });

    const { body } = await testConnection(app, { baseUrl: guarded.url, authorization: credentials() });

    expect(body).toMatchObject({ status: 200, message: 'Connection successful' });
    expect(body.synchronizedSystems?.map(({ resourceId }) => resourceId)).toEqual([system.resourceId]);
    expect(flags((await readSystem(app, system.resourceId)).tools)).toEqual(['secret-echo']);
  });

  it.each([
    ['the token endpoint refuses the secret', () => credentials('wrong'), CONNECTION_FAILURES.invalid_client],
    ['the server wants credentials', () => noAuth, CONNECTION_FAILURES.unauthorized],
  ])('reports rejected credentials in the body when %s', async (_case, authorization, details) => {
    const response = await testConnection(app, { baseUrl: guarded.url, authorization: authorization() });

    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      status: 400,
      message: 'Connection failed: Invalid authentication credentials',
      details,
    });
    expect(response.body).not.toHaveProperty('tools');
    expect(response.text).not.toContain('wrong');
  });

  it.each([
    ['nothing listens there', () => 'http://127.0.0.1:1/mcp'],
    ['the address is link-local', () => 'http://169.254.169.254/latest/meta-data'],
    ['the host does not exist', () => 'http://nowhere.invalid/mcp'],
    ['it is not an MCP server', () => `${app.url}/livez`],
    ['it never answers', () => silent.url],
  ])('reports an unreachable server in the body when %s', async (_case, url) => {
    const response = await testConnection(app, { baseUrl: url() });

    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      status: 500,
      message: 'Connection failed: MCP server is unreachable',
    });
    expect(Object.values(CONNECTION_FAILURES)).toContain(response.body.details);
    expect(response.body).not.toHaveProperty('tools');
  });

  it('leaves the stored tools alone when the server is gone', async () => {
    const peer = await startModernPeer([{ name: 'stays' }]);
    const system = await createSystem(app, { baseUrl: peer.url });
    await testConnection(app, { baseUrl: peer.url });
    await peer.close();

    expect((await testConnection(app, { baseUrl: peer.url })).body.status).toBe(500);
    expect(flags((await readSystem(app, system.resourceId)).tools)).toEqual(['stays']);
  });
});
