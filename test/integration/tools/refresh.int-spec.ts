import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuditAction } from '../../../src/audit/model/audit.types.js';
import { TestApp } from '../../support/app.js';
import { sendResult, startScriptedMcp, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import { eventually } from '../../support/runtime/runtime-client.js';
import { auditRows } from '../systems/rows.js';
import { createSystem, flags, readSystem, testConnection, type SystemBody } from './tool-support.js';

const tool = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' } });
const NOTICE = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
const NEVER = new Date('2099-01-01T00:00:00.000Z');

describe('the tools of systems are refreshed', () => {
  let app: TestApp;
  let other: TestApp;
  let server: ScriptedMcpPeer;
  let listed: object[];
  let isDown: boolean;
  const versionId = 'refreshed';

  beforeAll(async () => {
    const settings = { MCP_REFRESH_MINUTES: '60', 'jobLimits.pollMs': '50', TOOL_CALLS: 'true' };
    [app, other] = await Promise.all([TestApp.start(settings), TestApp.start(settings)]);
    server = await startScriptedMcp({
      list: ({ id, response }) =>
        isDown ? void response.writeHead(500).end() : sendResult(response, id, { tools: listed }),
      call: ({ id, response }) => {
        const answer = { jsonrpc: '2.0', id, result: { content: [] } };
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify(NOTICE)}\n\ndata: ${JSON.stringify(answer)}\n\n`);
      },
    });
  });
  afterAll(async () => {
    await Promise.all([app.close(), other.close(), server.close()]);
  });
  beforeEach(async () => {
    isDown = false;
    listed = [tool('alpha'), tool('beta')];
    await app.dataSource.query('DELETE FROM systems');
    server.seen.length = 0;
  });

  const system = async (): Promise<SystemBody> => {
    const created = await createSystem(app, { baseUrl: server.url, versionId });
    await testConnection(app, { baseUrl: server.url, versionId });
    return created;
  };
  const stored = ({ resourceId }: SystemBody) => readSystem(app, resourceId, versionId);
  const rows = (): Promise<{ tools_due_at: unknown }[]> =>
    app.dataSource.query('SELECT tools_due_at FROM systems');
  const lists = () => server.seen.filter((method) => method === 'tools/list').length;
  /** Runs the refresh job. It has finished when the job for the next minute exists. */
  const refresh = async (): Promise<void> => {
    const [before] = await jobs();
    await app.dataSource.query('UPDATE runtime_jobs SET available_at = ?, due_at = ? WHERE kind = ?', [
      '2026-01-01 00:00:00.000',
      '2026-01-01 00:00:00.000',
      'TOOL_REFRESH',
    ]);
    await eventually(jobs, ([job]) => job !== undefined && job.id !== before?.id);
  };
  const jobs = (): Promise<{ id: unknown }[]> =>
    app.dataSource.query("SELECT id FROM runtime_jobs WHERE kind = 'TOOL_REFRESH'");

  it('once per interval, by one of two replicas, with the same review as in a connection test', async () => {
    const registered = await system();
    await createSystem(app, {
      baseUrl: server.url,
      versionId,
      resourceName: 'never_tested',
      description: 'x',
    });
    const { modifiedDate } = await stored(registered);
    listed = [tool('alpha', 'Other'), tool('gamma')];

    await refresh();

    const after = await stored(registered);
    expect(flags(after.tools)).toEqual(['-alpha', '-gamma']);
    expect(after.modifiedDate).toBe(modifiedDate);
    const events = await auditRows(app, { appId: 'app', versionId });
    const event = events.findLast(({ action }) => action === AuditAction.ToolsSync);
    expect(event).toMatchObject({ actor: { userName: 'svc-platform' }, actorIssuer: '' });
    expect(lists()).toBe(2);
    expect(await jobs()).toHaveLength(1);
    // Not due again.
    await refresh();
    expect(lists()).toBe(2);
  });

  it('only after a first connection test', async () => {
    await createSystem(app, { baseUrl: server.url, versionId });
    await refresh();
    expect(server.seen).toEqual([]);
  });

  it('and kept when the server fails, until the next interval', async () => {
    const registered = await system();
    isDown = true;
    const seen = lists();
    await refresh();
    expect(flags((await stored(registered)).tools)).toEqual(['alpha', 'beta']);
    expect(lists()).toBeGreaterThan(seen);
    server.seen.length = 0;
    await refresh();
    expect(server.seen).toEqual([]);
  });

  it('within a minute, but not immediately, after the server reports a change during a call', async () => {
    const registered = await system();
    await app.dataSource.query('UPDATE systems SET tools_due_at = ?', ['2099-01-01 00:00:00.000']);
    const { tools } = await stored(registered);
    const path =
      `/appmanager/api/runtime-internal/app/app/app-version/${versionId}/rt/system/ri/${registered.resourceId}` +
      `/integrationengine/api/systems/ri/${registered.id}/tool/${tools[0]!.id}/call`;
    const before = Date.now();
    expect((await app.request('POST', path, { body: {} })).body).toMatchObject({ outcome: 'OK' });

    const [row] = await eventually(rows, ([one]) => timeOf(one) < NEVER.getTime());
    expect(timeOf(row)).toBeGreaterThanOrEqual(before + 60_000);
    expect(timeOf(row)).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  const timeOf = (row: { tools_due_at: unknown } | undefined): number => {
    const value = row?.tools_due_at;
    return (
      value instanceof Date ? value : new Date(`${String(value).replace(' ', 'T').replace(/Z?$/, '')}Z`)
    ).getTime();
  };
});

it('no refresh is scheduled if the setting is off', async () => {
  const app = await TestApp.start();
  try {
    await app.dataSource.query("DELETE FROM runtime_jobs WHERE kind = 'TOOL_REFRESH'");
    const again = await TestApp.start();
    await again.close();
    expect(await app.dataSource.query("SELECT id FROM runtime_jobs WHERE kind = 'TOOL_REFRESH'")).toEqual([]);
  } finally {
    await app.close();
  }
});
