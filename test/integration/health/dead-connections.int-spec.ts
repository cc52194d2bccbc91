import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { listPath } from '../../support/factories.js';
import { TcpProxy } from './tcp-proxy.js';

const databaseUrl = process.env['DATABASE_URL'] ?? '';

describe.skipIf(databaseUrl.startsWith('sqlite:'))('a database that vanishes without a word', () => {
  let proxy: TcpProxy;
  let app: TestApp;

  beforeAll(async () => {
    proxy = await TcpProxy.start(databaseUrl);
    app = await TestApp.start({
      DATABASE_URL: proxy.through(databaseUrl),
      DATABASE_POOL_SIZE: '2',
      DATABASE_DEADLINE_MS: '500',
      DATABASE_LOCK_WAIT_SECONDS: '1',
      DATABASE_SILENCE_MS: '2000',
    });
  });
  afterAll(async () => {
    await app.close();
    await proxy.stop();
  });

  const read = async (): Promise<number> => (await app.request('GET', listPath())).status;

  it('hangs no request, and its dead connections leave the pool', async () => {
    expect(await read()).toBe(200);

    proxy.set('silent');
    const start = performance.now();
    expect(await Promise.all([read(), read(), read()])).toEqual([503, 503, 503]);
    expect(performance.now() - start).toBeLessThan(2_000);

    // The old connections stay silent for ever; only new ones can answer.
    proxy.forget();
    await expect.poll(read, { timeout: 15_000, interval: 250 }).toBe(200);
  });
});
