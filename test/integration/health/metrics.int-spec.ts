import { afterEach, describe, expect, it, vi } from 'vitest';
import { TestApp } from '../../support/app.js';
import { freePort } from '../../support/databases/process-resources.js';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  detailsPath,
  listPath,
  serviceAccount,
} from '../../support/factories.js';
import { neverAnswers, unauthorized } from '../../support/peers/pathologies.js';
import { startHttpPeer } from '../../support/peers/peer.js';
import { startToolListPeer } from '../../support/peers/scripted-mcp.peer.js';

const TOOLS = [
  { name: 'a', inputSchema: { type: 'object' } },
  { name: 'b', inputSchema: { type: 'object' } },
];

describe('/metrics', () => {
  let app: TestApp;
  afterEach(() => app.close());

  const metrics = async (): Promise<string> => await (await fetch(`${app.url}/metrics`)).text();
  const test = (baseUrl: string) =>
    app.request('PATCH', connectionTestPath('metrics'), {
      body: { baseUrl, authorization: { type: 'NO_AUTH' } },
    });

  it('counts requests by route template, without data of callers in any label', async () => {
    app = await TestApp.start();
    const created = await app.request('PATCH', createPath('app-canary', 'version-canary'), {
      body: createSystemBody({
        resourceName: 'name-canary',
        payload: { authorization: serviceAccount({ clientId: 'client-canary' }) },
      }),
    });
    const resourceId = String(created.body['resourceId']);
    await app.request('GET', detailsPath(resourceId, 'app-canary', 'version-canary'));
    await app.request('GET', '/path-canary');
    await fetch(`${app.url}/x`, { method: 'PROPFIND' });
    const text = await metrics();
    expect(text).toMatch(
      /svc_http_request_duration_seconds_count\{method="PATCH",route="[^"]*:appId[^"]*systems",status="201"\} 1/,
    );
    expect(text).toMatch(/_count\{method="GET",route="[^"]*:systemResourceId[^"]*getById",status="200"\} 1/);
    expect(text).toMatch(/_count\{method="GET",route="unmatched",status="404"\} 1/);
    expect(text).toMatch(/_count\{method="other",route="unmatched",status="401"\} 1/);
    expect(text).not.toMatch(/canary/);
    expect(text).not.toContain(resourceId);
  });

  it('counts refused callers by reason', async () => {
    app = await TestApp.start();
    await app.request('GET', listPath(), { token: null });
    await app.request('GET', listPath(), { token: 'bad' });
    await app.request('GET', listPath(), { token: await app.tokenWith({ exp: 1_000 }) });
    await app.request('GET', listPath(), { token: await app.tokenWith({ scope: 'openid' }) });
    const text = await metrics();
    for (const reason of ['missing', 'malformed', 'expired', 'forbidden']) {
      expect(text).toContain(`svc_auth_failures_total{reason="${reason}"} 1`);
    }
    expect(text.match(/svc_auth_failures_total\{/g)?.length).toBe(4);
  });

  it('counts connection tests by outcome and cause, and changes of tools', async () => {
    app = await TestApp.start({ 'mcpLimits.testTimeoutMs': '10000' });
    const tools = structuredClone(TOOLS) as object[];
    const good = await startToolListPeer(tools);
    const [hung, closed] = [await startHttpPeer(neverAnswers), await startHttpPeer(unauthorized)];
    await app.request('PATCH', createPath('metrics'), {
      body: createSystemBody({ payload: { baseUrl: good.url } }),
    });
    await test(good.url);
    tools.splice(
      0,
      2,
      { ...TOOLS[0], description: 'changed' },
      { name: 'c', inputSchema: { type: 'object' } },
    );
    await test(good.url);
    await test(hung.url);
    await test(closed.url);
    const text = await metrics();
    expect(text).toContain('svc_mcp_connection_tests_total{outcome="connected",cause="none"} 2');
    expect(text).toContain('svc_mcp_connection_tests_total{outcome="unreachable",cause="timeout"} 1');
    expect(text).toContain(
      'svc_mcp_connection_tests_total{outcome="rejected_credentials",cause="unauthorized"} 1',
    );
    expect(text).toContain('svc_mcp_connection_test_duration_seconds_count{outcome="connected"} 2');
    expect(text).toContain('svc_mcp_tool_changes_total{change="added"} 3');
    expect(text).toContain('svc_mcp_tool_changes_total{change="changed"} 1');
    expect(text).toContain('svc_mcp_tool_changes_total{change="removed"} 1');
    await Promise.all([good.close(), hung.close(), closed.close()]);
  });

  it('includes the process, the key age and the database pool', async () => {
    app = await TestApp.start();
    await app.request('GET', listPath());
    const isServer = !String(process.env['DATABASE_URL']).startsWith('sqlite:');
    // Background work may be using the only connection opened so far.
    const response = await vi.waitFor(async () => {
      const answer = await fetch(`${app.url}/metrics`);
      const text = await answer.clone().text();
      expect(/^svc_database_pool_connections\{state="idle"\} [1-9]/m.test(text)).toBe(isServer);
      return answer;
    });
    const text = await response.text();
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
    expect(text).toMatch(/^svc_oidc_keys_age_seconds \d/m);
    expect(text).toMatch(/^svc_database_groups_total \d/m);
    expect(text).toMatch(/^svc_database_group_writes_total\{transaction="shared"\} \d/m);
    expect(text).toMatch(/^svc_database_group_writes_total\{transaction="own"\} \d/m);
    expect(/^svc_database_pool_connections\{state="waiting"\} 0/m.test(text)).toBe(isServer);
  });

  it('moves to a separate port with METRICS_PORT', async () => {
    const port = await freePort();
    app = await TestApp.start({ METRICS_PORT: String(port), HOST: '127.0.0.1' });
    const own = `http://127.0.0.1:${port}`;
    expect((await fetch(`${app.url}/metrics`)).status).toBe(404);
    const response = await fetch(`${own}/metrics`);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('svc_http_request_duration_seconds');
    const statuses = await Promise.all(
      ['/', '/livez/', '/docs', '/metrics/x'].map(async (path) => (await fetch(`${own}${path}`)).status),
    );
    expect(statuses).toEqual([404, 404, 404, 404]);
    expect((await fetch(`${own}/metrics`, { method: 'POST' })).status).toBe(404);
  });
});
