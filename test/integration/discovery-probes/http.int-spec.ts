import { describe, expect, it } from 'vitest';
import { type Page, pages, noSocketsLeft, type Peer, startHttpPeer } from '../../support/peers/peer.js';
import { component, failureOf, runProbe } from '../../support/discovery/run-probe.js';
import { keptPeers } from '../../support/peers/kept-peers.js';

const keep = keptPeers();

async function serve(byPath: Record<string, Page>): Promise<Peer> {
  return keep(startHttpPeer(pages(byPath)));
}

/** A family of health endpoints, with its responses and the expected findings. */
interface Family {
  name: string;
  /** Path of the health endpoint. */
  at: string;
  up: Page;
  /** Other pages of the service. */
  otherPages?: Record<string, Page>;
  found: Record<string, unknown>;
  down: Page;
  failure: string;
  /** Response of a degraded service, if the family has one. */
  degraded?: Page;
  options?: Record<string, unknown>;
}

const ACTUATOR = { 'content-type': 'application/vnd.spring-boot.actuator.v3+json' };
const FAMILIES: Family[] = [
  {
    name: 'Spring Actuator',
    at: '/actuator/health',
    up: { headers: ACTUATOR, body: { status: 'UP', groups: ['liveness', 'readiness'] } },
    otherPages: {
      '/actuator/info': {
        headers: ACTUATOR,
        body: { build: { name: 'documents', version: '3.4.1-SNAPSHOT', artifact: 'documents' } },
      },
      '/actuator': {
        headers: ACTUATOR,
        body: { _links: { self: { href: 'x' }, metrics: { href: 'x' }, health: { href: 'x' } } },
      },
    },
    found: { name: 'documents', version: '3.4.1', capabilities: ['health', 'metrics'] },
    down: { status: 503, headers: ACTUATOR, body: { status: 'OUT_OF_SERVICE' } },
    failure: 'down',
  },
  {
    name: 'Nest Terminus',
    at: '/health',
    up: {
      body: { status: 'ok', info: { db: { status: 'up' } }, error: {}, details: { db: { status: 'up' } } },
    },
    found: {},
    down: {
      status: 503,
      body: { status: 'error', info: {}, error: { db: { status: 'down' } }, details: {} },
    },
    failure: 'down',
    degraded: { body: { status: 'degraded', info: {}, error: {}, details: {} } },
  },
  {
    name: 'health+json',
    at: '/health',
    up: {
      headers: { 'content-type': 'application/health+json' },
      body: { status: 'pass', releaseId: 'v1.2.2', serviceId: 'billing', checks: {} },
    },
    found: { name: 'billing', version: '1.2.2' },
    down: {
      status: 200,
      headers: { 'content-type': 'application/health+json' },
      body: { status: 'fail', version: '1' },
    },
    failure: 'down',
    degraded: { body: { status: 'warn', version: '1' } },
  },
  {
    name: 'ASP.NET text',
    at: '/healthz',
    up: { headers: { 'x-app-version': '7.0.2+build.11' }, body: 'Healthy' },
    found: { version: '7.0.2' },
    down: { status: 503, body: 'Unhealthy' },
    failure: 'down',
    degraded: { body: 'Degraded' },
  },
  {
    name: 'Dapr',
    at: '/v1.0/healthz',
    up: { status: 204 },
    otherPages: {
      '/v1.0/metadata': {
        body: {
          id: 'orders',
          runtimeVersion: '1.15.4',
          components: [
            { name: 'store', type: 'state.redis', version: 'v1' },
            { name: 'bus', type: 'pubsub.kafka', version: 'v1' },
          ],
        },
      },
    },
    found: { name: 'orders', version: '1.15.4', capabilities: ['pubsub.kafka', 'state.redis'] },
    down: { status: 500, body: { errorCode: 'ERR_HEALTH_NOT_READY', message: 'dapr is not ready' } },
    failure: 'http_error',
  },
  {
    name: 'MicroProfile with an OpenAPI document',
    at: '/q/health',
    options: { healthPath: '/q/health', infoPath: 'q/openapi?format=json' },
    up: { body: { status: 'UP', checks: [{ name: 'disk', status: 'UP' }] } },
    otherPages: {
      '/q/openapi': {
        body: {
          openapi: '3.1.0',
          info: { title: 'Claims API', version: '2.5' },
          tags: [{ name: 'claims' }, { name: 'appeals' }, { name: 'not fit to show' }],
        },
      },
    },
    found: { name: 'Claims API', version: '2.5', capabilities: ['appeals', 'claims'] },
    down: { status: 503, body: { status: 'DOWN', checks: [{ name: 'disk', status: 'DOWN' }] } },
    failure: 'down',
  },
  {
    name: 'Kubernetes',
    at: '/healthz',
    up: { body: 'ok' },
    otherPages: { '/version': { body: { major: '1', minor: '32', gitVersion: 'v1.32.3+k3s1' } } },
    found: { version: '1.32.3' },
    down: { status: 500, body: '[+]ping ok\n[-]etcd failed: reason withheld\nhealthz check failed' },
    failure: 'http_error',
  },
  {
    name: 'a service with capabilities of its own',
    at: '/health',
    up: {
      body: { status: 'healthy', name: 'Archive', version: 'release 4', capabilities: ['read', 'write', 7] },
    },
    found: { name: 'Archive', version: '4', capabilities: ['read', 'write'] },
    down: { status: 200, body: { status: 'unhealthy' } },
    failure: 'down',
  },
  {
    name: 'a service without health endpoint',
    at: '/',
    up: { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Welcome</title>' },
    found: {},
    down: { status: 502, body: 'Bad Gateway' },
    failure: 'http_error',
  },
];

describe.each(FAMILIES)(
  'the probe of http at $name',
  ({ at, up, otherPages, found, down, failure, ...family }) => {
    it('finds it healthy, then down, then gone, then healthy again', async () => {
      const all: Record<string, Page> = { ...otherPages, [at]: up };
      const peer = await serve(all);
      const target = component('http', peer.url, { options: family.options ?? {} });
      expect(await runProbe(target)).toEqual({ ...found, warnings: [] });
      all[at] = down;
      expect(await failureOf(target)).toBe(failure);
      if (family.degraded !== undefined) {
        all[at] = family.degraded;
        expect((await runProbe(target)).warnings).toEqual([{ code: 'degraded' }]);
      }
      all[at] = up;
      await noSocketsLeft(peer);
      await peer.close();
      expect(await failureOf(target)).toBe('refused');
      await peer.reopen();
      expect(await runProbe(target)).toEqual({ ...found, warnings: [] });
    });
  },
);

describe('the probe of http', () => {
  const health = { '/health': { body: { status: 'ok', version: '1.0' } } };

  it('looks below the path of the endpoint', async () => {
    const peer = await serve({ '/apps/one/health': { body: { status: 'UP', version: '9.1' } } });
    expect(await runProbe(component('http', `${peer.url}apps/one`))).toMatchObject({ version: '9.1' });
  });

  it('considers a service healthy even if its other pages are forbidden or broken', async () => {
    const peer = await serve({
      '/actuator/health': { body: { status: 'UP' } },
      '/actuator/info': { status: 403 },
      '/actuator': { body: '{"_links":' },
      '/about': { status: 500 },
    });
    const target = component('http', peer.url, { options: { infoPath: '/about' } });
    expect(await runProbe(target)).toEqual({ warnings: [] });
  });

  it('skips common paths that are forbidden, as in Kubernetes and Spring Security', async () => {
    const peer = await serve({
      '/health': { status: 403 },
      '/actuator/health': { status: 401 },
      '/healthz': { body: 'ok' },
      '/version': { body: { gitVersion: 'v1.33.0' } },
    });
    expect(await runProbe(component('http', peer.url))).toMatchObject({ version: '1.33.0' });
  });

  it('tries refused credentials at one path only', async () => {
    const asked: string[] = [];
    const peer = await startHttpPeer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(401).end();
    });
    await keep(peer);
    const credentials = { username: 'probe', password: 'wrong' };
    expect(await failureOf(component('http', peer.url, { credentials }))).toBe('auth');
    expect(asked).toEqual(['/health']);
    expect(await failureOf(component('http', peer.url))).toBe('auth');
  });

  it('sends token, name and password, headers and query, and reports when they are rejected', async () => {
    const seen: Record<string, unknown>[] = [];
    const peer = await startHttpPeer((request, response) => {
      const { authorization, 'x-key': key } = request.headers;
      seen.push({ authorization, key, url: request.url });
      const isAllowed = authorization === 'Bearer right' || authorization === 'Basic cHJvYmU6cmlnaHQ=';
      response.writeHead(isAllowed ? 200 : key === 'known' ? 403 : 401).end('OK');
    });
    await keep(peer);
    const options = { healthPath: '/health', headers: { 'x-key': 'known' }, query: { code: 'a b' } };
    const as = (credentials: Record<string, string> | null, more = {}) =>
      component('http', peer.url, { credentials, options: { ...options, ...more } });
    await runProbe(as({ token: 'right' }));
    await runProbe(as({ username: 'probe', password: 'right' }));
    expect(seen.filter(({ url }) => url === '/health?code=a+b')).toEqual([
      { authorization: 'Bearer right', key: 'known', url: '/health?code=a+b' },
      { authorization: 'Basic cHJvYmU6cmlnaHQ=', key: 'known', url: '/health?code=a+b' },
    ]);
    expect(await failureOf(as({ token: 'wrong' }))).toBe('forbidden');
    expect(await failureOf(as(null, { headers: {} }))).toBe('auth');
  });

  it('finds the same for a registered service', async () => {
    const peer = await serve(health);
    const target = component('http', peer.url, { trust: 'registered' });
    expect(await runProbe(target)).toEqual({ version: '1.0', warnings: [] });
    await noSocketsLeft(peer);
    await peer.close();
    expect(await failureOf(target)).toBe('refused');
  });
});
