import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { tryStart } from '../../support/discovery/local-server.js';
import { redisCli, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { StubIssuer } from '../../support/issuer.js';
import { call, seen, startGuardedApp, type GuardedApp } from './guarded-app.js';

const LIMIT = 10;
const PATIENCE = { timeout: 10_000, interval: 150 };
const { server: started, missing } = await tryStart(() => startRedis());
if (missing !== undefined) {
  console.log(`tests of limits that replicas share: skipped, ${missing}`);
}

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
  await started?.server.stop();
});

const startApp = async (settings: Record<string, string>): Promise<GuardedApp> => {
  const app = await startGuardedApp({
    issuerUrl: issuer.url,
    settings: { REDIS_URL: `redis://default:admin@127.0.0.1:${redis.port}`, ...settings },
    trustProxy: 0,
  });
  apps.push(app);
  return app;
};

describe.skipIf(started === undefined)('requests a minute of one caller, with Redis', () => {
  const start = (): Promise<GuardedApp> => startApp({ RATE_LIMIT_PRINCIPAL_PER_MINUTE: String(LIMIT) });
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

describe.skipIf(started === undefined)('requests under way of one caller, with Redis', () => {
  const MOST = 3;
  const LEASE_MS = 1_000;
  let release: () => void;

  const holdOn = (): void => {
    seen.held = new Promise((resolve) => {
      release = resolve;
    });
  };
  beforeEach(holdOn);
  afterEach(() => release());

  const start = (): Promise<GuardedApp> =>
    startApp({ HTTP_CALLER_REQUESTS: String(MOST), REDIS_LEASE_MS: String(LEASE_MS) });
  const hold = async ({ url }: GuardedApp, sub: string): Promise<number> =>
    (await call(`${url}/held`, await issuer.sign({ sub }))).status;
  /** As `hold`, of so many, which are all under way then. */
  const holdAll = async (...requests: [GuardedApp, string][]): Promise<Promise<number[]>[]> => {
    seen.handlers = 0;
    const held = Promise.all(requests.map(([app, sub]) => hold(app, sub)));
    await vi.waitFor(() => expect(seen.handlers).toBe(requests.length), PATIENCE);
    return [held];
  };
  const status = async ({ url }: GuardedApp, sub: string): Promise<number> =>
    (await call(`${url}/any-caller`, await issuer.sign({ sub }))).status;
  /** Until the replica is connected: its slots are in Redis. */
  const connected = (app: GuardedApp, sub: string): Promise<string> =>
    vi.waitFor(async () => {
      await redisCli(redis.port, 'flushall');
      const held = hold(app, sub);
      const key = await vi.waitFor(async () => {
        const found = await redisCli(redis.port, 'keys', 'svc:slots:*');
        expect(found).toMatch(/^svc:slots:[\w-]{22}$/);
        return found;
      });
      release();
      expect(await held).toBe(200);
      await vi.waitFor(async () => expect(await redisCli(redis.port, 'keys', 'svc:slots:*')).toBe(''));
      holdOn();
      return key;
    }, PATIENCE);

  it('are counted by all replicas together, one by one', async () => {
    const [one, other] = [await start(), await start()];
    await connected(one, 'first');
    await connected(other, 'second');
    const [held] = await holdAll([one, 'shared'], [one, 'shared'], [other, 'shared']);
    expect([await status(one, 'shared'), await status(other, 'shared')]).toEqual([429, 429]);
    expect(await status(other, 'somebody')).toBe(200);
    release();
    expect(await held).toEqual([200, 200, 200]);
    await vi.waitFor(async () => expect(await status(other, 'shared')).toBe(200), PATIENCE);
    expect(await status(one, 'shared')).toBe(200);
  });

  it('of a replica that has died are counted until its lease ends, those of one that lives for longer', async () => {
    const [one, other] = [await start(), await start()];
    const key = await connected(one, 'mortal');
    await connected(other, 'second');
    const held = hold(other, 'mortal');
    const taken = (): Promise<string> => redisCli(redis.port, 'hlen', key);
    await vi.waitFor(async () => expect(await taken()).toBe('1'), PATIENCE);
    await redisCli(redis.port, 'hset', key, 'dead', `${MOST - 1} ${Date.now() + 2 * LEASE_MS}`);
    expect(await status(one, 'mortal')).toBe(429);
    await vi.waitFor(async () => expect(await status(one, 'mortal')).toBe(200), PATIENCE);
    // The lease of the one that lives was renewed meanwhile.
    await redisCli(redis.port, 'hset', key, 'dead', `${MOST - 1} ${Date.now() + 60_000}`);
    expect(await status(one, 'mortal')).toBe(429);
    release();
    expect(await held).toBe(200);
  });

  it('are counted by each replica alone while Redis is away, and by all again when it is back', async () => {
    const [one, other] = [await start(), await start()];
    await connected(one, 'first');
    await connected(other, 'second');
    await redis.server.kill();
    const most = Array.from({ length: MOST });
    const [held] = await holdAll(
      ...[one, other].flatMap((app) => most.map(() => [app, 'alone'] as [GuardedApp, string])),
    );
    expect([await status(one, 'alone'), await status(other, 'alone')]).toEqual([429, 429]);
    release();
    expect(new Set(await held)).toEqual(new Set([200]));
    await redis.server.restart();
    holdOn();
    await connected(one, 'first');
    await connected(other, 'second');
    const [again] = await holdAll(...most.map(() => [one, 'shared'] as [GuardedApp, string]));
    expect(await status(other, 'shared')).toBe(429);
    release();
    expect(await again).toEqual([200, 200, 200]);
  });
});
