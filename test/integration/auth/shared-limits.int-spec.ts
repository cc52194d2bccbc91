import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { tryStart } from '../../support/databases/local-server.js';
import { redisCommand, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { StubIssuer } from '../../support/issuer.js';
import { call, startGuardedApp, type GuardedApp } from './guarded-app.js';

const LIMIT = 10;
const PATIENCE = { timeout: 10_000, interval: 150 };
const { server: started, missing } = await tryStart(() => startRedis());
if (missing !== undefined) {
  console.log(`tests of rate limits shared by replicas: skipped, ${missing}`);
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
  const start = (settings: Record<string, string> = {}): Promise<GuardedApp> =>
    startApp({ RATE_LIMIT_PRINCIPAL_PER_MINUTE: String(LIMIT), ...settings });
  const ask = async ({ url }: GuardedApp, times: number, sub: string): Promise<number[]> => {
    const token = await issuer.sign({ sub });
    const answers = await Promise.all(Array.from({ length: times }, () => call(`${url}/any-caller`, token)));
    return answers.map(({ status }) => status);
  };
  const refused = (statuses: readonly number[]): number => statuses.filter((status) => status === 429).length;
  /** Waits until a replica counts in Redis. */
  const counting = (app: GuardedApp, sub: string): Promise<void> =>
    expect
      .poll(async () => {
        await redisCommand(redis.port, 'flushall');
        await ask(app, 1, sub);
        return redisCommand(redis.port, 'keys', 'svc:rate:*');
      }, PATIENCE)
      .toMatch(/^svc:rate:[\w-]{22}$/m);
  /** Asserts that each replica applies the limit regardless of the counts of the others. */
  const expectSeparateCounts = async (replicas: GuardedApp[], sub: string): Promise<void> => {
    for (const app of replicas) {
      expect(refused(await ask(app, LIMIT, sub))).toBe(0);
      expect(refused(await ask(app, 1, sub))).toBe(1);
    }
  };

  it('are counted by all replicas together', async () => {
    const [one, other] = [await start(), await start()];
    await counting(one, 'first');
    await counting(other, 'second');
    expect(refused(await ask(one, LIMIT / 2, 'shared'))).toBe(0);
    expect(refused(await ask(other, LIMIT, 'shared'))).toBe(LIMIT / 2);
    expect(refused(await ask(one, 1, 'shared'))).toBe(1);
    expect(await redisCommand(redis.port, 'keys', '*shared*')).toBe('');
  });

  it('are counted by each replica alone while Redis is away', async () => {
    const replicas = [await start(), await start()];
    await counting(replicas[0]!, 'first');
    await redis.server.kill();
    await expectSeparateCounts(replicas, 'alone');
    await redis.server.restart();
    await counting(replicas[0]!, 'first');
  });

  it.each([
    ['lacks memory', ['config', 'set', 'maxmemory', '1'], ['config', 'set', 'maxmemory', '0']],
    [
      'allows no scripts',
      ['acl', 'setuser', 'default', '-eval', '-evalsha'],
      ['acl', 'setuser', 'default', '+@all'],
    ],
    ['does not respond', ['client', 'pause', '3000', 'all'], ['ping']],
  ])(
    'are counted by each replica alone while Redis %s, and together again',
    async (_what, breakIt, repair) => {
      const replicas = [
        await start({ 'redisLimits.timeoutMs': '200' }),
        await start({ 'redisLimits.timeoutMs': '200' }),
      ];
      await counting(replicas[0]!, 'first');
      await counting(replicas[1]!, 'second');
      await redisCommand(redis.port, ...breakIt);
      await expectSeparateCounts(replicas, 'alone');
      await redisCommand(redis.port, ...repair);
      await counting(replicas[0]!, 'first');
      await counting(replicas[1]!, 'second');
    },
  );
});
