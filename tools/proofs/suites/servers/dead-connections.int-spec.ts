import { afterEach, describe, expect, it } from 'vitest';
import { TestApp } from '../../../../test/support/app.js';
import { listPath } from '../../../../test/support/factories.js';
import { TcpProxy } from '../../../../test/integration/health/tcp-proxy.js';
import { IN_TIME_MS } from '../../../../test/support/patience.js';

const databaseUrl = process.env['DATABASE_URL'] ?? '';

describe.skipIf(databaseUrl.startsWith('sqlite:'))('a database that silently disappears', () => {
  let proxy: TcpProxy;
  let app: TestApp;

  const start = async (silenceMs: number): Promise<void> => {
    proxy = await TcpProxy.start(databaseUrl);
    app = await TestApp.start({
      DATABASE_URL: proxy.through(databaseUrl),
      DATABASE_POOL_SIZE: '2',
      'databaseLimits.deadlineMs': '500',
      'databaseLimits.lockWaitSeconds': '1',
      'databaseLimits.silenceMs': String(silenceMs),
    });
    expect(await read()).toBe(200);
  };
  afterEach(async () => {
    // Ends requests that still wait for a response.
    proxy.set('down');
    await app.close();
    await proxy.stop();
  });

  const read = async (): Promise<number> => (await app.request('GET', listPath())).status;

  it('hangs no request', async () => {
    await start(4 * IN_TIME_MS);

    proxy.set('silent');
    const begin = performance.now();
    expect(await Promise.all([read(), read(), read()])).toEqual([503, 503, 503]);
    expect(performance.now() - begin).toBeLessThan(IN_TIME_MS);
  });

  it('gets new connections in place of dead ones', async () => {
    await start(2_000);

    proxy.set('silent');
    expect(await Promise.all([read(), read(), read()])).toEqual([503, 503, 503]);

    // The old connections stay silent forever; only new ones can respond.
    proxy.forget();
    await expect.poll(read, { interval: 250 }).toBe(200);
  });
});
