import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { tryStart } from '../../support/discovery/local-server.js';
import { redisCli, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { StubIssuer } from '../../support/issuer.js';
import { call, startGuardedApp, type GuardedApp } from './guarded-app.js';

const LIMIT = 10;
const PATIENCE = { timeout: 10_000, interval: 150 };
const { server: started, missing } = await tryStart(() => startRedis());
if (missing !== undefined) {
  console.log(`tests of limits that replicas share: skipped, ${missing}`);
}

describe.skipIf(started === undefined)('requests a minute of one caller, with Redis', () => {
  const redis = started as ProbedServer;
  const apps: GuardedApp[] = [];
  let issuer: StubIssuer;

  beforeAll(async () => {
    issuer = await StubIssuer.start();
  });
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.stop()));
  });
  afterAll(async () => {
    await issuer.stop();
    await redis.server.stop();
  });

  const start = async (): Promise<GuardedApp> => {
    const settings = {
      REDIS_URL: `redis://default:admin@127.0.0.1:${redis.port}`,
      RATE_LIMIT_PRINCIPAL_PER_MINUTE: String(LIMIT),
    };
    const app = await startGuardedApp({ issuerUrl: issuer.url, settings, trustProxy: 0 });
    apps.push(app);
    return app;
  };
  const ask = async ({ url }: GuardedApp, times: number, sub: string): Promise<number[]> => {
    const token = await issuer.sign({ sub });
    const answers = await Promise.all(Array.from({ length: times }, () => call(`${url}/any-caller`, token)));
    return answers.map(({ status }) => status);
  };
  const refused = (statuses: readonly number[]): number => statuses.filter((status) => status === 429).length;
  /** Until a replica tells what it counts. */
  const telling = (app: GuardedApp, sub: string): Promise<void> =>
    expect
      .poll(async () => {
        await redisCli(redis.port, 'flushall');
        await ask(app, 1, sub);
        await new Promise((resolve) => {
          setTimeout(resolve, 200);
        });
        return redisCli(redis.port, 'keys', 'svc:rate:*');
      }, PATIENCE)
      .toMatch(/^svc:rate:[\w-]{22}$/m);

  it('are counted by all replicas together', async () => {
    const [one, other] = [await start(), await start()];
    await telling(one, 'first');
    await telling(other, 'second');
    expect(refused(await ask(one, LIMIT, 'shared'))).toBe(0);
    // Each question of the other replica counts, so it soon learns of the sum; alone it would refuse the eleventh.
    let asked = 0;
    await expect
      .poll(async () => {
        asked += 1;
        return refused(await ask(other, 1, 'shared'));
      }, PATIENCE)
      .toBe(1);
    expect(asked).toBeLessThanOrEqual(LIMIT / 2);
  });

  it('are counted by each replica alone while Redis is away, and nobody is named in Redis', async () => {
    const [one, other] = [await start(), await start()];
    await telling(one, 'somebody');
    expect(await redisCli(redis.port, 'keys', '*somebody*')).toBe('');
    await redis.server.kill();
    for (const app of [one, other]) {
      expect(refused(await ask(app, LIMIT, 'alone'))).toBe(0);
      expect(refused(await ask(app, 1, 'alone'))).toBe(1);
    }
    await redis.server.restart();
  });
});
