import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startCluster, startSentinelGroup, type RedisGroup } from '../../support/discovery/redis-groups.js';
import { redisCli, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { tryStart } from '../../support/discovery/local-server.js';
import { JobBroker } from '../../../src/modules/jobs/broker/job-broker.js';
import { JobRelay } from '../../../src/modules/jobs/broker/job-relay.js';
import type { Job } from '../../../src/modules/jobs/model/job-queue.types.js';
import { JobsRepository } from '../../../src/modules/jobs/storage/jobs.repository.js';
import { complete, leading, replicasOn, type Run, startCounting, startWorking } from './counting-replica.js';
import { Gate, IS_EMBEDDED, type JobReplica } from './job-replica.js';

const redis = await tryStart(() => startRedis());
const { server: started, missing } = redis;
if (missing !== undefined) {
  console.log(`tests of background jobs on Redis: skipped, ${missing}`);
}

describe.skipIf(started === undefined)('job workers with Redis', () => {
  const server = started as ProbedServer;
  const { begun, replicas, url } = replicasOn(server);
  let givenUp: Job[];

  beforeEach(() => {
    givenUp = [];
  });

  const start = async (run: Run, settings: Record<string, string> = {}): Promise<JobReplica> => {
    const replica = await startWorking(begun, { REDIS_URL: url(), ...settings }, run, {
      giveUp: async (job) => {
        givenUp.push(job);
        await replica.database.write((manager) => replica.queue.complete(manager, job));
      },
    });
    replicas.push(replica);
    return replica;
  };

  it('run what Redis tells them, without looking into the table', async () => {
    const replica = await start(complete, { JOBS_SWEEP_MS: '600000' });
    await leading(replica);
    const look = vi.spyOn(replica.get(JobsRepository), 'claim');
    await replica.add(...Array.from({ length: 30 }, () => ({ kind: 'work' })));
    await replica.drained();
    expect(begun).toHaveLength(30);
    expect(begun.every(({ attempts }) => attempts === 1)).toBe(true);
    expect(look).not.toHaveBeenCalled();
    await vi.waitFor(async () => expect(await redisCli(server.port, 'keys', '*:j*')).toBe(''));
  });

  it('run a job when it is due, and not before', async () => {
    const times: number[] = [];
    const replica = await start(
      (...run) => {
        times.push(Date.now());
        return complete(...run);
      },
      { JOBS_SWEEP_MS: '600000' },
    );
    await leading(replica);
    const due = Date.now() + 700;
    await replica.add({ kind: 'work', availableAt: new Date(due) });
    await replica.drained();
    expect(times).toHaveLength(1);
    expect(times[0]).toBeGreaterThanOrEqual(due);
  });

  it('try a failing job again when its pause is over, until it is given up', async () => {
    const settings = { JOBS_MAX_ATTEMPTS: '3', JOBS_SWEEP_MS: '600000' };
    const replica = await start(() => Promise.reject(new Error('broken')), settings);
    await leading(replica);
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(begun.map(({ attempts, failures }) => [attempts, failures])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
    expect(givenUp).toHaveLength(1);
  });

  it('do nothing about a job that Redis tells them twice, or that is gone', async () => {
    const replica = await start(complete, { JOBS_SWEEP_MS: '600000' });
    await leading(replica);
    const broker = replica.get(JobRelay).broker as JobBroker;
    const [id = 0] = await replica.add({ kind: 'work' });
    await replica.drained();
    const again = { shard: 0, kind: 'work', lane: 'short', dueAt: Date.now() } as const;
    await vi.waitFor(async () => expect(await redisCli(server.port, 'keys', '*:j*')).toBe(''));
    const take = vi.spyOn(replica.get(JobsRepository), 'take');
    await broker.handOver([
      { ...again, id },
      { ...again, id: id + 1 },
    ]);
    await vi.waitFor(() => expect(take).toHaveBeenCalledTimes(2));
    await vi.waitFor(async () => expect(await redisCli(server.port, 'keys', '*:j*')).toBe(''));
    expect(begun).toHaveLength(1);
  });

  it('find jobs that Redis has forgotten', async () => {
    const replica = await start(complete, { JOBS_WORKERS: 'false' });
    await leading(replica);
    await replica.add(
      { kind: 'work' },
      { kind: 'work', availableAt: new Date(Date.now() + 500) },
      { kind: 'newer' },
    );
    await redisCli(server.port, 'flushall');
    await start(complete);
    await vi.waitFor(() => expect(begun).toHaveLength(2), { timeout: 10_000 });
    await vi.waitFor(async () =>
      expect(await replica.stored()).toMatchObject([{ kind: 'newer', attempts: 0 }]),
    );
  });

  it('go on with the table while Redis is away, and with Redis when it is back', async () => {
    const replica = await start(complete);
    await leading(replica);
    await server.server.kill();
    await leading(replica, false);
    await replica.add({ kind: 'work' }, { kind: 'work', availableAt: new Date(Date.now() + 300) });
    await replica.drained();
    expect(begun).toHaveLength(2);
    const [later] = await replica.add({ kind: 'work', availableAt: new Date(Date.now() + 60_000) });
    await server.server.restart();
    await leading(replica);
    await vi.waitFor(async () =>
      expect(await redisCli(server.port, 'keys', `*:j${later}`)).toContain(`j${later}`),
    );
    await replica.add({ kind: 'work' });
    await vi.waitFor(() => expect(begun).toHaveLength(3));
  });

  it('take a Redis that says nothing for one that is away', async () => {
    const replica = await start(complete, { REDIS_TIMEOUT_MS: '100' });
    await leading(replica);
    await redisCli(server.port, 'client', 'pause', '1500', 'all');
    await replica.add({ kind: 'work' });
    await leading(replica, false);
    await replica.drained();
    await leading(replica);
  });

  it('begin no more of a lane in a second than its rate allows', async () => {
    const replica = await start(complete, { JOBS_RATE_PER_SECOND: '5', JOBS_SWEEP_MS: '600000' });
    await leading(replica);
    const begin = performance.now();
    await replica.add(...Array.from({ length: 11 }, () => ({ kind: 'work' })));
    await replica.drained();
    expect(performance.now() - begin).toBeGreaterThan(1_500);
  });

  it('leave running jobs their time at a stop, and give back what they end', async () => {
    const gate = new Gate();
    const replica = await start(
      async (job, context, self) => {
        if (begun.length > 1) {
          await new Promise((_resolve, reject) => {
            context.signal.addEventListener('abort', () => reject(context.signal.reason as Error));
          });
        }
        await gate.opened;
        await complete(job, context, self);
      },
      { JOBS_STOP_GRACE_MS: '300' },
    );
    await leading(replica);
    await replica.add({ kind: 'work' }, { kind: 'work' });
    await vi.waitFor(() => expect(begun).toHaveLength(2));
    const watcher = await start(complete, { JOBS_WORKERS: 'false' });
    replicas.splice(replicas.indexOf(replica), 1);
    const stopped = replica.stop();
    gate.open();
    await stopped;
    expect(await watcher.stored()).toMatchObject([{ attempts: 0, lease: null }]);
  });
});

// To them the database makes no difference.
describe.skipIf(started === undefined || !IS_EMBEDDED).each([
  ['Sentinels', startSentinelGroup],
  ['a cluster', startCluster],
])('job workers with Redis behind %s', (_name, startGroup) => {
  let group: RedisGroup;
  beforeAll(async () => {
    group = await startGroup();
  }, 120_000);
  afterAll(() => group.stop());

  it('run jobs before and after a failover', async () => {
    const begun: Job[] = [];
    const replica = await startCounting(begun, group.url);
    try {
      await leading(replica);
      await replica.add({ kind: 'work' });
      await replica.drained();
      const [primary] = await group.primaries();
      await group.servers[group.ports.indexOf(primary ?? 0)]?.kill();
      await replica.add({ kind: 'work' });
      await replica.drained();
      await leading(replica);
      const look = vi.spyOn(replica.get(JobsRepository), 'take');
      await replica.add({ kind: 'work' });
      await replica.drained();
      expect(begun).toHaveLength(3);
      expect(look).toHaveBeenCalled();
    } finally {
      await replica.stop();
    }
  });
});
