import type { IncomingHttpHeaders } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditAction } from '../../../src/audit/model/audit.types.js';
import { ToolEntity } from '../../../src/systems/tools/storage/tool.entity.js';
import { TestApp } from '../../support/app.js';
import { startToolsPeer, type ToolsPeer } from '../../support/peers/official.peers.js';
import { appPath, type Published } from '../../support/runtime/publish.js';
import { publishAgent } from '../agents/agent-support.js';
import { auditRows } from '../systems/rows.js';

const ACCEPT = { accept: 'application/json, text/event-stream' };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('POST /mcp/app/{appId}', () => {
  let app: TestApp;
  let peer: ToolsPeer;
  let published: Published;
  const clients: Client[] = [];
  const received: IncomingHttpHeaders[] = [];

  beforeAll(async () => {
    app = await TestApp.start({ 'gatewayLimits.pollMs': '20' });
    peer = await startToolsPeer(
      {
        echo: { run: (text) => `said ${text}` },
        fails: {
          run: () => {
            throw new Error('not today');
          },
        },
        '天気 (東京)': { run: () => '晴れ' },
      },
      ({ headers }) => {
        received.push(headers);
        return false;
      },
    );
    published = await publishAgent(app, { servers: [peer.url] });
    const { appId, buildId } = published;
    expect((await app.request('PUT', `${appPath(appId)}/active-build`, { body: { buildId } })).status).toBe(
      200,
    );
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await app.close();
    await peer.close();
  });

  const path = (appId = published.appId): string => `/mcp/app/${appId}`;
  const connect = async (
    mode: 'auto' | 'legacy',
    options: ConstructorParameters<typeof Client>[1] = {},
    at = path(),
  ) => {
    const client = new Client(
      { name: 'agent', version: '1.0.0' },
      { versionNegotiation: { mode }, ...options },
    );
    const token = await app.tokenWith({ scope: 'openid tool:use' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${app.url}${at}`), { requestInit }));
    clients.push(client);
    return client;
  };
  const setEnabled = (name: string, enabled: boolean) =>
    app.dataSource.getRepository(ToolEntity).update({ name }, { enabled });
  const raw = (body: object, token?: string | null, appId?: string) =>
    app.request('POST', path(appId), { body, headers: ACCEPT, ...(token === undefined ? {} : { token }) });

  it.each(['auto', 'legacy'] as const)('serves official clients, revision %s', async (mode) => {
    const client = await connect(mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'tools__echo',
      'tools__fails',
      expect.stringMatching(/^tools_______.*_[0-9a-f]{10}$/),
    ]);
    expect(tools[0]).toMatchObject({ inputSchema: { type: 'object', properties: { text: {} } } });
    expect(await client.callTool({ name: 'tools__echo', arguments: { text: 'hello' } })).toMatchObject({
      content: [{ type: 'text', text: 'said hello' }],
    });
    expect(await client.callTool({ name: 'tools__fails', arguments: { text: 'x' } })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'not today' }],
    });
    expect(await client.callTool({ name: tools[2]?.name ?? '', arguments: { text: '' } })).toMatchObject({
      content: [{ type: 'text', text: '晴れ' }],
    });
  });

  it('checks arguments against the reviewed schema before the call', async () => {
    const before = peer.called.length;
    const client = await connect('auto');
    expect(await client.callTool({ name: 'tools__echo', arguments: { text: 7 } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('do not match the schema') as string }],
    });
    expect(peer.called).toHaveLength(before);
  });

  it('records each call before and after it, without argument values', async () => {
    const client = await connect('auto');
    await client.callTool({ name: 'tools__echo', arguments: { text: 'personal' } });
    const { appId, versionId } = published;
    const [begun, event] = (await auditRows(app, { appId, versionId })).slice(-2);
    expect(begun).toMatchObject({
      action: AuditAction.ToolCallBegin,
      details: { tool: 'echo', arguments: ['text'] },
    });
    expect(event).toMatchObject({ action: AuditAction.ToolCall, outcome: 'ok', requestId: begun?.requestId });
    expect(JSON.stringify([begun, event])).not.toContain('personal');
  });

  it('neither lists nor calls a disabled tool, and notifies clients that listen', async () => {
    let notified = (): void => undefined;
    const notification = new Promise<void>((resolve) => {
      notified = resolve;
    });
    const client = await connect('auto', {
      listChanged: { tools: { onChanged: () => notified() } },
    });
    await client.listTools();
    const before = peer.called.length;
    await setEnabled('echo', false);
    try {
      await notification;
      expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('tools__echo');
      await expect(client.callTool({ name: 'tools__echo', arguments: { text: 'a' } })).rejects.toThrow(
        'Unknown tool: tools__echo',
      );
      expect(peer.called).toHaveLength(before);
    } finally {
      await setEnabled('echo', true);
    }
  });

  it('never sends the token of the caller to the server', async () => {
    const client = await connect('auto');
    await client.callTool({ name: 'tools__echo', arguments: { text: 'a' } });
    expect(received.length).toBeGreaterThan(0);
    expect(received.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  it('answers a single request of 2025 without a handshake', async () => {
    const { status, headers, text } = await raw(LIST);
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type: 'text/event-stream' });
    expect(text).toContain('"name":"tools__echo"');
  });

  it('answers 401 and 403 with the metadata of the endpoint', async () => {
    const metadata = `resource_metadata="${app.url}/.well-known/oauth-protected-resource${path()}"`;
    const missing = await raw(LIST, null);
    expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, `Bearer ${metadata}`]);
    const denied = await raw(LIST, await app.tokenWith({ scope: 'openid' }));
    expect([denied.status, denied.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="tool:use", ${metadata}`,
    ]);
    expect(denied.body).toMatchObject({
      message: 'Insufficient permissions to use the tools of the application',
    });
  });

  it('answers 404 for an application without an active build', async () => {
    const { status, body } = await raw(LIST, undefined, 'unknown-app');
    expect({ status, message: body['message'] }).toEqual({
      status: 404,
      message: 'The application has no active build.',
    });
  });

  it.each([
    ['a body that is no object', '[]'],
    ['no JSON', '{'],
  ])('answers 400 to %s', async (_name, rawBody) => {
    const { status } = await app.request('POST', path(), {
      rawBody,
      headers: { ...ACCEPT, 'content-type': 'application/json' },
    });
    expect(status).toBe(400);
  });

  it('finds and calls tools at POST /mcp/app/{appId}/search', async () => {
    const client = await connect('auto', {}, `${path()}/search`);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
    const found = async (query: string) => {
      const { structuredContent } = await client.callTool({ name: 'search_tools', arguments: { query } });
      return (structuredContent as { tools: { name: string }[] }).tools.map(({ name }) => name);
    };
    expect((await found('ecko'))[0]).toBe('tools__echo');
    expect(await found('nothing-like-it')).toEqual([]);
    const call = { name: 'tools__echo', arguments: { text: 'hello' } };
    expect(await client.callTool({ name: 'call_tool', arguments: call })).toMatchObject({
      content: [{ text: 'said hello' }],
    });
    await setEnabled('echo', false);
    try {
      expect(await found('echo')).not.toContain('tools__echo');
      await expect(client.callTool({ name: 'call_tool', arguments: call })).rejects.toThrow('Unknown tool');
    } finally {
      await setEnabled('echo', true);
    }
    await expect(client.callTool({ name: 'search_tools', arguments: {} })).rejects.toThrow(
      'query must be a text',
    );
    await expect(client.callTool({ name: 'call_tool', arguments: {} })).rejects.toThrow(
      'name must be a text',
    );
  });

  it.each(['GET', 'DELETE'])('has no sessions: %s is answered 405', async (method) => {
    expect((await app.request(method, path(), { headers: ACCEPT })).status).toBe(405);
  });
});

describe('GET /.well-known/oauth-protected-resource/mcp/app/{appId}', () => {
  it('names the issuer and the scope, without a token', async () => {
    const app = await TestApp.shared();
    const { status, body } = await app.request('GET', '/.well-known/oauth-protected-resource/mcp/app/any', {
      token: null,
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        resource: `${app.url}/mcp/app/any`,
        authorization_servers: [app.issuer.url],
        bearer_methods_supported: ['header'],
        scopes_supported: ['tool:use'],
      },
    });
    await app.close();
  });
});
