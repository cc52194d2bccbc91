import { describe, expect, it, vi } from 'vitest';
import { tryStart } from '../../support/discovery/local-server.js';
import { redisCli, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { JobBroker, type Look } from '../../../src/modules/jobs/broker/job-broker.js';
import { JobRelay } from '../../../src/modules/jobs/broker/job-relay.js';
import type { NewJob } from '../../../src/modules/jobs/model/job-queue.types.js';
import { JobsRepository } from '../../../src/modules/jobs/storage/jobs.repository.js';
import { JobSweep } from '../../../src/modules/jobs/work/job-sweep.js';
import { leading, replicasOn, startCounting } from './counting-replica.js';
import { Gate, type JobReplica } from './job-replica.js';

const LATE = { timeout: 20_000 };
const { server: started } = await tryStart(() => startRedis());

describe.skipIf(started === undefined)('the sweep of jobs', () => {
  const server = started as ProbedServer;
  const { begun, replicas, url } = replicasOn(server);

  const start = async (settings: Record<string, string> = {}, gate?: Gate): Promise<JobReplica> => {
    const replica = await startCounting(begun, url(), settings, gate);
    replicas.push(replica);
    await leading(replica);
    // What is stored before the first look of the sweep is found by that.
    if (settings['JOBS_WORKERS'] !== 'false') {
      await vi.waitFor(async () => {
        expect(await redisCli(server.port, 'get', '{svc-jobs}:horizon')).toMatch(/^[1-9]/);
      }, LATE);
    }
    return replica;
  };
  const known = async (): Promise<number> =>
    (await redisCli(server.port, 'keys', '*:j*')).split('\n').filter((key) => /:j\d+$/.test(key)).length;
  const inAMinute = (): Date => new Date(Date.now() + 60_000);
  /** Stores jobs as a replica that dies right after the commit. */
  const addUntold = async (replica: JobReplica, ...jobs: (Partial<NewJob> & { kind: string })[]) => {
    const told = vi.spyOn(replica.get(JobRelay), 'handOver').mockImplementation(() => undefined);
    await replica.add(...jobs);
    told.mockRestore();
  };
  const many = (count: number, kind = 'work'): { kind: string }[] =>
    Array.from({ length: count }, () => ({ kind }));

  it('finds what a replica without workers could not hand over', async () => {
    const callers = await start({ JOBS_WORKERS: 'false' });
    await start();
    await callers.add({ kind: 'work' });
    await callers.drained();
    const handOver = vi.spyOn(callers.get(JobRelay).broker as JobBroker, 'handOver');
    handOver.mockRejectedValueOnce(new Error('redis did not answer'));
    await callers.add({ kind: 'work', availableAt: inAMinute() });
    await vi.waitFor(async () => expect(await known()).toBe(1), LATE);
  });

  it('finds everything that is late, however much it is', async () => {
    const gate = new Gate();
    const replica = await start({}, gate);
    await addUntold(replica, ...many(1_200));
    await vi.waitFor(async () => expect(await known()).toBe(1_200), LATE);
    gate.open();
  });

  it('finds a late job behind many of another release', async () => {
    const replica = await start();
    await replica.add(...many(600, 'newer'));
    await addUntold(replica, { kind: 'work' });
    await vi.waitFor(() => expect(begun).toHaveLength(1), LATE);
  });

  it('looks less and less often at jobs of another release', async () => {
    const work = vi.spyOn(JobBroker.prototype, 'work');
    const replica = await start();
    const look = work.mock.calls[0]?.[1] as Look;
    const rest = async (looks: number): Promise<number | undefined> =>
      look({ id: 1, shard: 0, kind: 'newer', looks });
    expect(await rest(1)).toBeLessThanOrEqual(1_000);
    expect(await rest(6)).toBeGreaterThanOrEqual(16_000);
    expect(await rest(7)).toBeUndefined();
    const [id] = await replica.add({ kind: 'newer' });
    await vi.waitFor(async () => {
      const looks = await redisCli(server.port, 'hget', `{svc-jobs}:short:j${id}`, 'ats');
      expect(Number(looks)).toBeGreaterThan(1);
    }, LATE);
  });

  it.each([
    ['Redis is emptied', () => redisCli(server.port, 'flushall')],
    ['another replica could not hand over', (broker: JobBroker) => broker.setBack()],
  ])('begins anew when %s while it is under way', async (_what, happen) => {
    const replica = await start();
    await redisCli(server.port, 'flushall');
    const jobs = replica.get(JobsRepository);
    const read = jobs.from.bind(jobs);
    vi.spyOn(jobs, 'from').mockImplementationOnce(async (...range) => {
      const rows = await read(...range);
      // Stored after the page was read.
      await addUntold(replica, { kind: 'work', availableAt: inAMinute() });
      await happen(replica.get(JobRelay).broker as JobBroker);
      return rows;
    });
    await vi.waitFor(async () => expect(await known()).toBe(1), LATE);
  });

  it('keeps its turn while it is under way', async () => {
    const replica = await start({ JOBS_SWEEP_MS: '5000' });
    const turns: string[] = [];
    const jobs = replica.get(JobsRepository);
    const read = jobs.from.bind(jobs);
    vi.spyOn(jobs, 'from').mockImplementation(async (...range) => {
      turns.push((await redisCli(server.port, 'exists', '{svc-jobs}:sweep')).trim());
      await redisCli(server.port, 'del', '{svc-jobs}:sweep');
      return read(...range);
    });
    await addUntold(replica, ...many(600));
    await redisCli(server.port, 'flushall');
    await vi.waitFor(() => expect(turns.slice(0, 2)).toEqual(['1', '1']), LATE);
  });

  it('ends with the page that it hands over when its replica stops', async () => {
    const replica = await start({ REDIS_TIMEOUT_MS: '20000' });
    const page = { shard: 0, kind: 'newer', lane: 'short', availableAt: new Date() } as const;
    const read = vi.spyOn(replica.get(JobsRepository), 'from').mockImplementation(() => {
      const first = 500 * read.mock.calls.length;
      return Promise.resolve(Array.from({ length: 500 }, (_, index) => ({ ...page, id: first + index })));
    });
    const sweep = replica.get(JobSweep);
    const stop = sweep.stop.bind(sweep);
    let pages = 0;
    vi.spyOn(sweep, 'stop').mockImplementation(() => {
      pages = read.mock.calls.length;
      return stop();
    });
    await redisCli(server.port, 'flushall');
    await vi.waitFor(() => expect(read.mock.calls.length).toBeGreaterThan(3), LATE);
    await Promise.all(replicas.splice(0).map((one) => one.stop()));
    expect(read.mock.calls).toHaveLength(pages);
  });
});
