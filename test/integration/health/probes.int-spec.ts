import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { HealthService } from '../../../src/health/health.service.js';
import { TestApp } from '../../support/app.js';
import { listPath } from '../../support/factories.js';
import { StubIssuer } from '../../support/issuer.js';
import { TcpProxy, type ProxyMode } from './tcp-proxy.js';
import { IN_TIME_MS } from '../../support/patience.js';

const READINESS_TIMEOUT_MS = 500;
const CACHE_MS = 1_000;
const databaseUrl = String(process.env['DATABASE_URL']);

describe('/livez and /readyz', () => {
  let app: TestApp;
  afterEach(() => app.close());

  it('need no token and return only their status', async () => {
    app = await TestApp.start();
    await expectReady();
    for (const path of ['/livez', '/readyz']) {
      const response = await app.request('GET', path, { token: null });
      expect([response.status, response.body]).toEqual([200, { status: 'ok' }]);
    }
    const withBadToken = await app.request('GET', '/readyz', { token: 'bad' });
    expect(withBadToken.status).toBe(200);
  });

  it('distinguish a stopping replica from a dead one', async () => {
    app = await TestApp.start();
    app.nest.get(HealthService).beginStop();
    expect((await app.request('GET', '/livez')).status).toBe(200);
    const response = await app.request('GET', '/readyz');
    expect([response.status, response.body]).toEqual([503, { status: 'unavailable' }]);
    const headers = { accept: 'application/problem+json' };
    expect((await app.request('GET', '/readyz', { headers })).body).toEqual({ status: 'unavailable' });
    expect((await app.request('GET', listPath())).status).toBe(200);
  });

  it('are not ready while there are no keys to verify tokens', async () => {
    const issuer = await StubIssuer.start();
    await issuer.stop();
    app = await TestApp.start({ OIDC_ISSUER: issuer.url });
    expect((await app.request('GET', '/readyz')).status).toBe(503);
    expect((await app.request('GET', '/livez')).status).toBe(200);
    const response = await app.request('GET', listPath());
    expect([response.status, response.body['error']]).toEqual([500, 'Internal Server Error']);
    await issuer.start();
    await expectReady();
    await issuer.stop();
  });

  it.skipIf(databaseUrl.startsWith('sqlite:')).each<ProxyMode>(['down', 'silent'])(
    'are not ready while the database is %s, and ready again when it is back',
    async (mode) => {
      const proxy = await TcpProxy.start(databaseUrl);
      app = await TestApp.start({
        DATABASE_URL: proxy.through(databaseUrl),
        'httpLimits.readinessTimeoutMs': String(READINESS_TIMEOUT_MS),
        // No other timeout may expire during the test.
        'databaseLimits.connectTimeoutMs': '60000',
        'databaseLimits.deadlineMs': String(4 * IN_TIME_MS),
        'databaseLimits.silenceMs': String(4 * IN_TIME_MS),
      });
      await expectReady();
      proxy.set(mode);
      await sleep(CACHE_MS + 100);
      for (let count = 0; count < 3; count += 1) {
        const started = performance.now();
        expect((await app.request('GET', '/readyz')).status).toBe(503);
        expect(performance.now() - started).toBeLessThan(IN_TIME_MS);
        await sleep(CACHE_MS + 100);
      }
      expect((await app.request('GET', '/livez')).status).toBe(200);
      if (mode === 'down') {
        const response = await app.request('GET', listPath());
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
        expect([response.status, response.body['message']]).toEqual([
          503,
          'The database is not available. Nothing was stored; try again.',
        ]);
      }
      proxy.set('open');
      await expectReady();
      expect((await app.request('GET', listPath())).status).toBe(200);
      await proxy.stop();
    },
  );

  async function expectReady(): Promise<void> {
    const deadline = Date.now() + IN_TIME_MS;
    for (let status = 0; status !== 200;) {
      status = (await app.request('GET', '/readyz')).status;
      expect(Date.now()).toBeLessThan(deadline);
      await sleep(100);
    }
  }
});
