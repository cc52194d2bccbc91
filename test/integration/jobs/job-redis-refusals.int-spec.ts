import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tryStart } from '../../support/discovery/local-server.js';
import { startCluster } from '../../support/discovery/redis-groups.js';
import { redisCli, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { Log } from '../../../src/common/logging/log.js';
import type { Job } from '../../../src/modules/jobs/model/job-queue.types.js';
import { leading, startCounting } from './counting-replica.js';
import { IS_EMBEDDED } from './job-replica.js';

const LATE = { timeout: 15_000 };
const { server: started } = await tryStart(() => startRedis());

// To all of them the database makes no difference.
describe.skipIf(started === undefined || !IS_EMBEDDED)('job workers with a Redis that refuses', () => {
  const server = started as ProbedServer;
  const url = `redis://default:admin@127.0.0.1:${server.port}`;
  let begun: Job[];

  beforeEach(() => {
    begun = [];
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await redisCli(server.port, 'flushall');
  });
  afterAll(() => server.server.stop());

  it.each([
    ['memory', 'OOM', ['config', 'set', 'maxmemory', '1'], ['config', 'set', 'maxmemory', '64mb']],
    [
      'a right',
      'NOPERM',
      ['acl', 'setuser', 'default', '-evalsha', '-eval'],
      ['acl', 'setuser', 'default', '+@all'],
    ],
    [
      'a replica',
      'NOREPLICAS',
      ['config', 'set', 'min-replicas-to-write', '1'],
      ['config', 'set', 'min-replicas-to-write', '0'],
    ],
  ])('look into the table while it lacks %s', async (_what, code, breakIt, mend) => {
    const replica = await startCounting(begun, url);
    try {
      await leading(replica);
      await replica.add({ kind: 'work' });
      await replica.drained();
      await redisCli(server.port, ...breakIt);
      const soon = new Date(Date.now() + 500);
      await replica.add({ kind: 'work' }, { kind: 'work', availableAt: soon });
      await vi.waitFor(() => expect(begun).toHaveLength(3), LATE);
      await leading(replica, false);
      const text = await replica.metrics.text();
      expect(text).toMatch(new RegExp(`svc_job_redis_failures_total\\{code="${code}"\\} [1-9]`));
      expect(text).toContain('svc_job_redis_in_use 0');
      await redisCli(server.port, ...mend);
      await leading(replica);
      expect(await replica.metrics.text()).toContain('svc_job_redis_in_use 1');
      await replica.add({ kind: 'work' });
      await replica.drained();
    } finally {
      await redisCli(server.port, ...mend);
      await replica.stop();
    }
  });

  it('say that it refuses their password, and look into the table', async () => {
    const warn = vi.spyOn(Log.prototype, 'warn');
    const replica = await startCounting(begun, url.replace('admin', 'wrong'), {
      JOBS_STOP_GRACE_MS: '20000',
    });
    try {
      await replica.add({ kind: 'work' });
      await replica.drained();
      await vi.waitFor(
        () =>
          expect(warn).toHaveBeenCalledWith('redis is away: this replica goes on without it', {
            errorCode: 'WRONGPASS',
          }),
        LATE,
      );
    } finally {
      const begin = performance.now();
      await replica.stop();
      expect(performance.now() - begin).toBeLessThan(20_000);
    }
  });
});

describe.skipIf(started === undefined || !IS_EMBEDDED)('job workers with a cluster', () => {
  it('look into the table while it has lost the servers of their slot', async () => {
    const group = await startCluster();
    const begun: Job[] = [];
    const replica = await startCounting(begun, group.url);
    try {
      await leading(replica);
      await replica.add({ kind: 'work' });
      await replica.drained();
      for (const [index, port] of group.ports.entries()) {
        if ((await group.ask(port, 'info', 'keyspace')).includes('keys=')) {
          await group.servers[index]?.kill();
        }
      }
      await leading(replica, false);
      for (let jobs = 2; jobs < 7; jobs += 1) {
        await replica.add({ kind: 'work' });
        await vi.waitFor(() => expect(begun).toHaveLength(jobs));
      }
    } finally {
      await replica.stop();
      await group.stop();
    }
  });
});
