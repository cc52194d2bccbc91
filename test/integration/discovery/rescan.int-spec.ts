import { request as rawRequest } from 'node:http';
import { Agent, fetch } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { SERVICE_VERSION } from '../../../src/platform/service-version.js';
import type { ComponentSource } from '../../../src/discovery/sources/listing.js';
import type { DiscoveryResult } from '../../../src/discovery/model/scan.types.js';
import { SOURCES } from '../../../src/discovery/sources/sources.js';
import { DiscoveryScanEntity } from '../../../src/discovery/storage/discovery.entity.js';
import { TestApp } from '../../support/app.js';
import { after, FakePlatform, healthy, refused } from '../../support/discovery/fake-platform.js';
import { IN_TIME_MS } from '../../support/patience.js';

const PATH = '/api/platform/discover';
const RULES = JSON.stringify({ 'platform-admin': [{ claim: 'scope', has: 'platform:discover' }] });

const rescan = (app: TestApp) => app.request<DiscoveryResult>('GET', PATH);

describe('GET /api/platform/discover', () => {
  let app: TestApp;
  let platform: FakePlatform;
  beforeAll(async () => {
    app = await TestApp.start({ PUBLIC_ORIGIN: 'https://svc.example.com' });
    platform = FakePlatform.in(app.nest);
  });
  afterAll(() => app.close());
  beforeEach(() => {
    platform.components = [];
    platform.scans = 0;
  });

  it('includes the service itself', async () => {
    const { status, body, headers } = await rescan(app);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('etag')).toBeNull();
    expect(body.services['svcPlatform']).toMatchObject({
      name: 'svc-platform',
      version: SERVICE_VERSION,
      status: 'healthy',
      endpoint: 'https://svc.example.com',
      capabilities: expect.arrayContaining(['platform-discovery', 'process-runtime']),
    });
  });

  it.each([
    ['if-none-match', '*'],
    ['if-none-match', '"a", W/"b"'],
    ['if-modified-since', 'Fri, 31 Dec 2100 23:59:59 GMT'],
  ])('never answers 304: %s: %s', async (name, value) => {
    const { status, body } = await app.request<DiscoveryResult>('GET', PATH, {
      headers: { [name]: value, 'cache-control': 'max-age=0' },
    });
    expect([status, Object.keys(body.services), platform.scans]).toEqual([200, ['svcPlatform'], 1]);
  });

  it('does not scan for HEAD, and requires a token', async () => {
    const head = async (authorization: string) => {
      const answer = await fetch(`${app.url}${PATH}`, { method: 'HEAD', headers: { authorization } });
      return [answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')];
    };
    const json = 'application/json; charset=utf-8';
    expect(await head(`Bearer ${await app.tokenWith({})}`)).toEqual([200, json, 'no-store']);
    expect(await head('Bearer x')).toEqual([401, json, 'no-store']);
    expect(platform.scans).toBe(0);
  });

  it('reports healthy and unhealthy components, with reasons and recommendations', async () => {
    platform.add('crm', healthy({ version: '2.4.1', name: 'CRM' }), { isNamed: false });
    platform.add('reporting', refused);
    platform.add('cache', healthy({ memory: { usedBytes: 1_024, availableBytes: 2_048 } }), {
      map: 'infrastructure',
    });
    platform.add('storage', healthy({ buckets: 4 }), { map: 'externalIntegrations' });
    const { body } = await rescan(app);
    expect(body).toMatchObject({ totalServices: 3, healthyServices: 2, unhealthyServices: 1 });
    expect(Object.keys(body.services)).toEqual(['crm', 'reporting', 'svcPlatform']);
    expect(body.services['crm']).toMatchObject({ name: 'CRM', version: '2.4.1' });
    expect(body.services['reporting']?.error).toBe('The connection was refused.');
    expect(body.infrastructure['cache']?.memory).toEqual({ used: '1KB', available: '2KB' });
    expect(body.externalIntegrations['storage']?.buckets).toBe(4);
    expect(body.summary).toMatchObject({
      issuesDetected: 1,
      recommendations: [
        'services.reporting: The connection was refused. Start it, or correct its address and port.',
      ],
    });
    const checks = [body.services, body.infrastructure, body.externalIntegrations].flatMap((map) =>
      Object.values(map).map(({ lastHealthCheck }) => lastHealthCheck),
    );
    expect(checks.every((time) => time <= body.scanTimestamp)).toBe(true);
  });

  it('compares with the last completed scan, also after a restart', async () => {
    platform.add('a');
    platform.add('b');
    await rescan(app);
    platform.components.pop();
    platform.add('c');
    platform.behaviours.set('a', healthy({ version: '2' }));
    // No version of `a` was known before, so the service compares what is declared.
    const { body } = await rescan(app);
    expect(body.summary).toMatchObject({ newServicesFound: 1, configurationChanges: 2 });
    const restarted = await TestApp.start({ PUBLIC_ORIGIN: 'https://svc.example.com' });
    const same = FakePlatform.in(restarted.nest);
    same.add('a', healthy({ version: '2' }));
    same.add('c');
    same.add('d');
    const again = await rescan(restarted);
    expect(again.body.summary).toMatchObject({ newServicesFound: 1, configurationChanges: 0 });
    await restarted.close();
  });

  it('never returns a scan that began before the request', async () => {
    platform.add('slow', after(300));
    const first = rescan(app);
    await vi.waitFor(() => expect(platform.scans).toBe(1));
    platform.add('late');
    const [one, other] = await Promise.all([first, rescan(app)]);
    expect(Object.keys(one.body.services)).not.toContain('late');
    expect(Object.keys(other.body.services)).toContain('late');
    expect(platform.scans).toBe(2);
  });

  it('completes a scan whose caller disconnected', async () => {
    platform.add('slow', after(300));
    const count = await app.dataSource.manager.count(DiscoveryScanEntity);
    const token = await app.tokenWith({});
    const call = rawRequest(`${app.url}${PATH}`, { headers: { authorization: `Bearer ${token}` } });
    call.on('error', () => undefined).end();
    await vi.waitFor(() => expect(platform.scans).toBe(1));
    call.destroy();
    await vi.waitFor(async () =>
      expect(await app.dataSource.manager.count(DiscoveryScanEntity)).toBe(count + 1),
    );
    expect((await rescan(app)).status).toBe(200);
  });

  it('answers 500 with the documented body when the scan cannot be stored, and 200 again afterwards', async () => {
    const { dataSource } = app;
    await dataSource.query('ALTER TABLE discovery_scans RENAME TO discovery_scans_gone');
    const { status, body } = await app.request('GET', PATH);
    await dataSource.query('ALTER TABLE discovery_scans_gone RENAME TO discovery_scans');
    expect(status).toBe(500);
    expect(body).toEqual({
      error: 'Internal Server Error',
      message: 'The server could not complete the request.',
      status: 500,
      details: expect.stringMatching(/^request id /),
    });
    expect((await rescan(app)).status).toBe(200);
  });

  it('reports a failing source as an issue, never as an error', async () => {
    const broken = {
      name: 'dns',
      list: () => {
        throw new Error('secret-canary');
      },
    } as ComponentSource;
    const sources = app.nest.get<ComponentSource[]>(SOURCES);
    sources.push(broken);
    const { status, body, text } = await rescan(app);
    sources.pop();
    expect(status).toBe(200);
    expect(body.summary.recommendations).toEqual([
      'Source dns: The source could not be read because of a fault inside the service. Fix it; until then the components that it last listed are checked.',
    ]);
    expect(text).not.toContain('canary');
  });
});

describe('GET /api/platform/discover with other settings', () => {
  let app: TestApp;
  afterEach(() => app.close());

  it('answers 403 without the permission that DISCOVERY_PERMISSION names, also for the history', async () => {
    app = await TestApp.start({ DISCOVERY_PERMISSION: 'platform-admin', PERMISSION_RULES: RULES });
    for (const path of [PATH, `${PATH}/scans`, `${PATH}/scans/1`, `${PATH}/changes`]) {
      const { status, body } = await app.request('GET', path);
      expect({ path, status, body }).toEqual({
        path,
        status: 403,
        body: { error: 'Forbidden', message: 'Insufficient permissions', status: 403 },
      });
    }
    const token = await app.tokenWith({ scope: 'platform:discover' });
    expect((await app.request('GET', PATH, { token })).status).toBe(200);
  });

  it('answers 429 with Retry-After to a caller who rescans too often, but not to others', async () => {
    app = await TestApp.start({ 'httpLimits.rescansPerMinute': '2' });
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { status, headers } = await rescan(app);
      statuses.push(status);
      expect(Number(headers.get('retry-after') ?? 0) > 0).toBe(status === 429);
    }
    expect(statuses).toEqual([200, 200, 429]);
    const other = await app.tokenWith({ sub: 'user-2' });
    expect((await app.request('GET', PATH, { token: other })).status).toBe(200);
    expect((await app.request('GET', `${PATH}/scans`)).status).toBe(200);
  });

  it('answers 500 when no scan is completed in time', async () => {
    app = await TestApp.start({ 'discoveryLimits.requestTimeoutMs': '1000' });
    FakePlatform.in(app.nest).add('slow', after(1_900));
    const start = performance.now();
    expect((await rescan(app)).status).toBe(500);
    expect(performance.now() - start).toBeGreaterThanOrEqual(1_000);
  });

  it('answers a thousand concurrent requests with two scans', async () => {
    const patience = '50000';
    app = await TestApp.start({
      'discoveryLimits.probeTimeoutMs': patience,
      'discoveryLimits.scanTimeoutMs': patience,
      'discoveryLimits.requestTimeoutMs': '100000',
    });
    const platform = FakePlatform.in(app.nest);
    const calls = 1_000;
    let arrived = 0;
    app.nest.getHttpServer().on('request', () => (arrived += 1));
    // The first scan runs until all requests have arrived and are authenticated, however slow the machine is.
    platform.add('slow', async () => {
      await vi.waitFor(() => expect(arrived).toBe(calls), { timeout: 100_000 });
      await new Promise((resolve) => {
        setTimeout(resolve, 1_000);
      });
      return {};
    });
    const headers = { authorization: `Bearer ${await app.tokenWith({})}` };
    const dispatcher = new Agent({ connections: calls });
    const before = Date.now();
    const answers = await Promise.all(
      Array.from({ length: calls }, async () => {
        const response = await fetch(`${app.url}${PATH}`, { headers, dispatcher });
        return { status: response.status, body: (await response.json()) as DiscoveryResult };
      }),
    );
    await dispatcher.destroy();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(platform.scans).toBe(2);
    expect(answers.every(({ body }) => Date.parse(body.scanTimestamp) >= before)).toBe(true);
    expect(new Set(answers.map(({ body }) => body.scanTimestamp)).size).toBe(2);
  });

  it('limits the number of components, and stores and returns all of them', async () => {
    app = await TestApp.start();
    const platform = FakePlatform.in(app.nest);
    const name = 'n'.repeat(200);
    for (let index = 0; index < 1_200; index += 1) {
      platform.add(`service${index}`, index % 2 === 0 ? healthy({ version: '1.0' }) : refused, { name });
    }
    const { status, body, text } = await rescan(app);
    expect({ status, totalServices: body.totalServices }).toEqual({ status: 200, totalServices: 1_000 });
    expect(body.summary.recommendations).toHaveLength(body.summary.issuesDetected);
    expect(body.summary.recommendations).toContainEqual(
      expect.stringMatching(/^201 components were skipped/),
    );
    expect(text.length).toBeLessThan(1_000_000);
    const { body: history } = await app.request<{ scans: { id: number }[] }>('GET', `${PATH}/scans?limit=1`);
    const stored = await app.request<{ result: DiscoveryResult }>(
      'GET',
      `${PATH}/scans/${history.scans[0]!.id}`,
    );
    expect(stored.body.result).toEqual(body);
  });

  it('aborts a scan when the service stops', async () => {
    app = await TestApp.start({
      'discoveryLimits.probeTimeoutMs': '60000',
      'discoveryLimits.scanTimeoutMs': '120000',
    });
    const platform = FakePlatform.in(app.nest);
    const ended = vi.fn();
    platform.add('hung', ({ onEnd }) => {
      onEnd(ended);
      return new Promise(() => undefined);
    });
    const call = fetch(`${app.url}${PATH}`, {
      headers: { authorization: `Bearer ${await app.tokenWith({})}` },
    });
    await vi.waitFor(() => expect(platform.checks).toBe(1));
    const start = performance.now();
    await app.nest.close();
    expect(performance.now() - start).toBeLessThan(IN_TIME_MS);
    expect((await call).status).toBe(500);
    expect(ended).toHaveBeenCalledOnce();
    // The next replica does not have to wait for the lease.
    app = await TestApp.start();
    expect((await rescan(app)).status).toBe(200);
  });

  it('shows the components in the metrics, also after a restart', async () => {
    app = await TestApp.start();
    const platform = FakePlatform.in(app.nest);
    platform.add('reporting', refused);
    platform.add('cache', healthy(), { map: 'infrastructure' });
    await rescan(app);
    await app.close();
    app = await TestApp.start();
    const text = await (await fetch(`${app.url}/metrics`)).text();
    expect(text).toContain('svc_discovery_component_up{map="services",key="reporting"} 0');
    expect(text).toContain('svc_discovery_component_up{map="infrastructure",key="cache"} 1');
    expect(text).toMatch(
      /svc_discovery_component_last_check_timestamp_seconds\{map="services",key="reporting"\} 1\d{9}/,
    );
  });
});
