import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditAction } from '../../../src/audit/model/audit.types.js';
import { TestApp } from '../../support/app.js';
import { sendResult, startScriptedMcp } from '../../support/peers/scripted-mcp.peer.js';
import { startToolsPeer, type ToolsPeer } from '../../support/peers/official.peers.js';
import { auditRows } from '../systems/rows.js';
import { createSystem, readSystem, testConnection, type SystemBody } from './tool-support.js';

const KEY = 'key-that-must-stay-secret';
const MAX_BYTES = 256;

describe('POST …/rt/system/ri/{systemResourceId}/integrationengine/api/systems/ri/{systemId}/tool/{toolId}/call', () => {
  let app: TestApp;
  let peer: ToolsPeer;
  let system: SystemBody;

  beforeAll(async () => {
    app = await TestApp.start({ TOOL_CALLS: 'true', 'mcpCallLimits.maxShownBytes': String(MAX_BYTES) });
    peer = await startToolsPeer({
      echo: { run: (text) => `said ${text}` },
      fails: {
        run: () => {
          throw new Error('not today');
        },
      },
      floods: { run: () => 'x'.repeat(MAX_BYTES + 1) },
      '天気 (東京)': { run: () => '晴れ' },
      tells: { run: () => `the key is ${KEY}` },
    });
    const authorization = { type: 'API_KEY', configuration: { headerName: 'X-Key', apiKey: KEY } };
    const created = await createSystem(app, { baseUrl: peer.url, authorization });
    await testConnection(app, { baseUrl: peer.url, authorization });
    system = await readSystem(app, created.resourceId);
  });
  afterAll(async () => {
    await app.close();
    await peer.close();
  });

  const toolOf = (name: string) => system.tools.find((tool) => tool.name === name)?.id ?? 'none';
  const pathOf = (name: string, { systemId = system.id, toolId = toolOf(name) } = {}): string =>
    `/appmanager/api/runtime-internal/app/app/app-version/v1/rt/system/ri/${system.resourceId}` +
    `/integrationengine/api/systems/ri/${systemId}/tool/${toolId}/call`;
  const call = (name: string, body: unknown = {}) => app.request('POST', pathOf(name), { body });
  const switched = (name: string, enabled: boolean) =>
    app.request(
      'PATCH',
      `/appmanager/api/resource/app/app/app-version/v1/rt/system/ri/${system.resourceId}` +
        `/integration/api/systems/ri/${system.id}/tool/${toolOf(name)}/enable`,
      { body: { enabled } },
    );

  it('calls the tool once, returns its result, and writes audit events without argument values', async () => {
    const { status, body } = await call('echo', { text: 'hello' });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        outcome: 'OK',
        message: null,
        mayHaveRun: null,
        text: 'said hello',
        structured: null,
        latencyMs: expect.any(Number),
      },
    });
    expect(peer.called).toEqual(['echo:hello']);
    const [begun, event] = (await auditRows(app, { appId: 'app', versionId: 'v1' })).slice(-2);
    expect(begun).toMatchObject({
      action: AuditAction.ToolCallBegin,
      outcome: 'ok',
      systemResourceId: system.resourceId,
      toolId: toolOf('echo'),
      requestId: event?.requestId,
      details: { tool: 'echo', arguments: ['text'] },
    });
    expect(event).toMatchObject({
      action: AuditAction.ToolCall,
      outcome: 'ok',
      systemResourceId: system.resourceId,
      toolId: toolOf('echo'),
    });
    expect(event?.details).toMatchObject({ tool: 'echo', arguments: ['text'], isError: false });
    expect(JSON.stringify([begun, event])).not.toContain('hello');
  });

  it('calls a tool whose name is in any script', async () => {
    expect((await call('天気 (東京)')).body).toMatchObject({ outcome: 'OK', text: '晴れ' });
    expect(peer.called.at(-1)).toBe('天気 (東京)');
  });

  it('returns a tool error and a result that is too large as outcomes', async () => {
    expect((await call('fails')).body).toMatchObject({ outcome: 'TOOL_ERROR', message: null });
    expect((await call('floods')).body).toMatchObject({
      outcome: 'FAILED',
      mayHaveRun: true,
      text: '',
      message: `The result has ${MAX_BYTES + 1} bytes; at most ${MAX_BYTES} can be shown. Ask for less.`,
    });
  });

  it('returns the error text of a server that rejects the call, separate from the message', async () => {
    const refusing = await startScriptedMcp({
      list: ({ id, response }) => sendResult(response, id, { tools: [{ name: 'look', inputSchema: {} }] }),
      call: ({ id, response }) => {
        const error = { code: -32_602, message: 'city must be one of Bern, Basel' };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      },
    });
    const { resourceId } = await createSystem(app, { baseUrl: refusing.url });
    await testConnection(app, { baseUrl: refusing.url });
    const { id: systemId, tools } = await readSystem(app, resourceId);
    const path =
      `/appmanager/api/runtime-internal/app/app/app-version/v1/rt/system/ri/${resourceId}` +
      `/integrationengine/api/systems/ri/${systemId}/tool/${tools[0]?.id}/call`;
    expect((await app.request('POST', path, { body: {} })).body).toMatchObject({
      outcome: 'FAILED',
      message: 'The MCP server answers with a protocol error.',
      mayHaveRun: false,
      text: 'city must be one of Bern, Basel',
    });
    await refusing.close();
  });

  it('removes credentials from the result', async () => {
    const { text } = await call('tells');
    expect(text).toContain('the key is');
    expect(text).not.toContain(KEY);
  });

  it('rejects invalid arguments, a disabled tool and unknown ids, without a call', async () => {
    const before = peer.called.length;
    expect(await call('echo', { text: 1 })).toMatchObject({
      status: 400,
      body: { message: 'The arguments do not fit the tool.' },
    });
    await switched('echo', false);
    expect(await call('echo', { text: 'x' })).toMatchObject({
      status: 409,
      body: { message: 'The tool is disabled and cannot be called.' },
    });
    await switched('echo', true);
    const unknown = [pathOf('echo', { toolId: 'none' }), pathOf('echo', { systemId: 'none' })];
    for (const path of unknown) {
      expect((await app.request('POST', path, { body: {} })).status).toBe(404);
    }
    expect(peer.called.length).toBe(before);
  });

  it('does not call the tool if the audit event cannot be stored', async () => {
    const before = peer.called.length;
    await app.dataSource.query('ALTER TABLE audit_events RENAME TO audit_events_away');
    try {
      expect((await call('echo', { text: 'x' })).status).toBeGreaterThanOrEqual(500);
    } finally {
      await app.dataSource.query('ALTER TABLE audit_events_away RENAME TO audit_events');
    }
    expect(peer.called.length).toBe(before);
    expect((await call('echo', { text: 'x' })).status).toBe(200);
  });

  it('requires a token and the permission', async () => {
    const token = await app.tokenWith({ scope: 'openid integration:manage' });
    expect(await app.request('POST', pathOf('echo'), { token, body: {} })).toMatchObject({
      status: 403,
      body: { message: 'Insufficient permissions to call tools' },
    });
    expect((await app.request('POST', pathOf('echo'), { token: null, body: {} })).status).toBe(401);
  });

  it('is disabled by default', async () => {
    const plain = await TestApp.start();
    const answer = await plain.request('POST', pathOf('echo'), { body: {} });
    await plain.close();
    expect(answer).toMatchObject({
      status: 403,
      body: { message: 'Tools cannot be called by hand here: TOOL_CALLS is off.' },
    });
  });
});
