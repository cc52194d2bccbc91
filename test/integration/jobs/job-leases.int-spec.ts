import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IdBlockEntity } from '../../../src/store/ids/id-block.entity.js';
import type { ClaimedJob, Job, JobContext, JobHandler } from '../../../src/jobs/model/job-queue.types.js';
import { LeaseLostError } from '../../../src/jobs/queue/jobs.errors.js';
import { JobsRepository } from '../../../src/jobs/storage/jobs.repository.js';
import { Gate, IS_EMBEDDED, JobReplica } from './job-replica.js';

const EFFECTS = 'effects-of-jobs';

/** Stores the effect of a job, counted by the database itself, in the transaction that completes it. */
const applyEffect = ({ database, queue }: JobReplica, job: Job): Promise<void> =>
  database.write(async (manager) => {
    await manager.increment(IdBlockEntity, { name: EFFECTS }, 'next', 1);
    await queue.complete(manager, job);
  });

const IDLE_HANDLER: JobHandler = {
  kind: 'idle',
  run: () => Promise.resolve(),
  giveUp: () => Promise.resolve(),
};

describe('the lease of a job', () => {
  const replicas: JobReplica[] = [];
  let observer: JobReplica;

  beforeEach(async () => {
    observer = await JobReplica.start(() => [], { JOBS_CONCURRENCY: '0' });
    await observer.clear();
    await observer.database.write(async (manager) => {
      await manager.delete(IdBlockEntity, { name: EFFECTS });
      await manager.insert(IdBlockEntity, { name: EFFECTS, next: 0 });
    });
  });
  afterEach(async () => {
    await Promise.all([...new Set([...replicas.splice(0), observer])].map((replica) => replica.stop()));
  });

  const effects = async (): Promise<number> =>
    (await observer.database.read((manager) => manager.findOneByOrFail(IdBlockEntity, { name: EFFECTS })))
      .next;

  const setZone = (zone: string): Promise<unknown> =>
    IS_EMBEDDED
      ? Promise.resolve()
      : observer.database.write((manager) => manager.query(`SET GLOBAL time_zone = '${zone}'`));

  /** Starts two replicas, or on SQLite the only possible one, which has several workers. */
  const startReplicas = async (
    handlerOf: (replica: JobReplica) => JobHandler,
    settings: Record<string, string> = {},
  ): Promise<JobReplica[]> => {
    for (let index = 0; index < (IS_EMBEDDED ? 1 : 2); index += 1) {
      replicas.push(await JobReplica.start((self) => [handlerOf(self)], settings));
    }
    if (IS_EMBEDDED) {
      // Two SQLite connections of one process cannot wait for each other.
      await observer.stop();
      observer = replicas[0] as JobReplica;
    }
    return replicas;
  };

  describe('of a worker that stalled until its lease expired', () => {
    interface StalledRun {
      gate: Gate;
      job: Job;
      context: JobContext;
      /** Outcome of storing its effect. */
      result: Promise<unknown>;
    }

    /** Returns the runs of two workers. The first lost the job to the second; neither has stored anything yet. */
    const twoRuns = async (): Promise<[StalledRun, StalledRun]> => {
      const runs: StalledRun[] = [];
      const lease = { ms: 200 };
      await startReplicas((replica) => ({
        kind: 'work',
        get leaseMs() {
          return lease.ms;
        },
        run: async (job, context) => {
          lease.ms = 20_000;
          const gate = new Gate();
          const result = gate.opened.then(() => applyEffect(replica, job));
          runs.push({ gate, job, context, result: result.catch((error: unknown) => error) });
          await result;
        },
        giveUp: () => Promise.reject(new Error('not expected')),
      }));
      await observer.add({ kind: 'work' });
      await vi.waitFor(() => expect(runs).toHaveLength(2));
      return runs as [StalledRun, StalledRun];
    };

    it('is invalid while another worker has the job', async () => {
      const [stalled, holder] = await twoRuns();
      expect([stalled.job.attempts, holder.job.attempts]).toEqual([1, 2]);
      stalled.gate.open();
      expect(await stalled.result).toBeInstanceOf(LeaseLostError);
      expect(await effects()).toBe(0);
      holder.gate.open();
      expect(await holder.result).toBeUndefined();
      expect(await effects()).toBe(1);
      await observer.drained();
    });

    it('is invalid after another worker has completed the job', async () => {
      const [stalled, holder] = await twoRuns();
      holder.gate.open();
      expect(await holder.result).toBeUndefined();
      stalled.gate.open();
      expect(await stalled.result).toBeInstanceOf(LeaseLostError);
      expect(await effects()).toBe(1);
    });

    it('aborts the handler, and cannot be extended', async () => {
      const [stalled, holder] = await twoRuns();
      expect(stalled.context.signal.aborted).toBe(true);
      expect(stalled.context.signal.reason).toBeInstanceOf(LeaseLostError);
      await expect(stalled.context.heartbeat()).rejects.toThrow(LeaseLostError);
      expect(holder.context.signal.aborted).toBe(false);
      await holder.context.heartbeat();
      holder.gate.open();
      expect(await holder.result).toBeUndefined();
      stalled.gate.open();
      await stalled.result;
    });
  });

  it('becomes invalid when the job is cancelled, and the next heartbeat of its handler fails', async () => {
    const seen: unknown[] = [];
    const gate = new Gate();
    await startReplicas((replica) => ({
      kind: 'work',
      run: async (job, context) => {
        gate.open();
        await vi.waitFor(async () => expect(await observer.stored()).toEqual([]));
        seen.push(await context.heartbeat().catch((error: unknown) => error), context.signal.aborted);
        await applyEffect(replica, job);
      },
      giveUp: () => Promise.reject(new Error('not expected')),
    }));
    await observer.add({ kind: 'work', instanceId: 5, tokenId: 6 });
    await gate.opened;
    await observer.database.write((manager) => observer.queue.cancelOfToken(manager, 5, [6]));
    await vi.waitFor(() => expect(seen).toHaveLength(2));
    expect(seen[0]).toBeInstanceOf(LeaseLostError);
    expect(seen[1]).toBe(true);
    await sleep(100);
    expect(await effects()).toBe(0);
  });

  it('is extended by heartbeats', async () => {
    let runs = 0;
    await startReplicas((replica) => ({
      kind: 'work',
      leaseMs: 1_000,
      run: async (job, context) => {
        runs += 1;
        for (let beat = 0; beat < 8; beat += 1) {
          await sleep(250);
          await context.heartbeat();
        }
        await applyEffect(replica, job);
      },
      giveUp: () => Promise.reject(new Error('not expected')),
    }));
    await observer.add({ kind: 'work' });
    await observer.drained();
    expect([runs, await effects()]).toEqual([1, 1]);
  });

  it('is extended by each of several concurrent heartbeats', async () => {
    const jobs = observer.get(JobsRepository);
    await observer.add({ kind: 'work' });
    const [job] = (await jobs.claim({ lane: 'short', kinds: ['work'], limit: 1 })) as [ClaimedJob];
    const beats = Array.from({ length: 5 }, () => jobs.extend(job, job.leaseMs));
    expect(await Promise.all(beats)).toEqual([true, true, true, true, true]);
  });

  it('is lost independently when its heartbeat is sent together with those of other jobs', async () => {
    const jobs = observer.get(JobsRepository);
    await observer.add({ kind: 'work' }, { kind: 'work' }, { kind: 'work' });
    const claimed: ClaimedJob[] = [];
    // A claim takes jobs of one group of shards.
    while (claimed.length < 3) {
      claimed.push(...(await jobs.claim({ lane: 'short', kinds: ['work'], limit: 3 })));
    }
    const beats = claimed.map((job, index) =>
      jobs.extend(index === 1 ? { ...job, lease: 'of another worker' } : job, job.leaseMs),
    );
    expect(await Promise.all(beats)).toEqual([true, false, true]);
  });

  it('lets every effect be stored exactly once even if workers stall', async () => {
    let runs = 0;
    const settings = {
      'jobLimits.leaseMs': '1000',
      'jobLimits.maxAttempts': '100',
      'jobLimits.batch': '7',
    };
    await startReplicas(
      (replica) => ({
        kind: 'work',
        // Long enough for the work even on a busy machine.
        leaseMs: 1_000,
        run: async (job) => {
          runs += 1;
          await sleep(job.attempts === 1 && job.id % 20 === 0 ? 1_500 : 1);
          await applyEffect(replica, job);
        },
        giveUp: () => Promise.reject(new Error('not expected')),
      }),
      settings,
    );
    await observer.add(...Array.from({ length: 200 }, () => ({ kind: 'work' })));
    await observer.drained();
    expect(runs).toBeGreaterThan(200);
    expect(await effects()).toBe(200);
  });

  it('follows the clock of the database server in any time zone, or on SQLite the clock of the process', async () => {
    await setZone('+05:00');
    try {
      const [replica] = (await startReplicas(() => ({ ...IDLE_HANDLER }), {
        JOBS_CONCURRENCY: '0',
        'jobLimits.leaseMs': '60000',
      })) as [JobReplica];
      replica.clock.aheadMs = 3_600_000;
      await observer.add(
        { kind: 'work', shard: 0, availableAt: new Date(Date.now() - 1_000) },
        { kind: 'work', shard: 0, availableAt: new Date(Date.now() + 1_800_000) },
        { kind: 'work', shard: 0, availableAt: new Date(Date.now() + 5_400_000) },
      );
      const claimed = await replica.get(JobsRepository).claim({ lane: 'short', kinds: ['work'], limit: 10 });
      expect(claimed).toHaveLength(IS_EMBEDDED ? 2 : 1);
      const [row] = await observer.stored();
      const endsInMs = (row?.availableAt.getTime() ?? 0) - Date.now();
      const expectedMs = 60_000 + (IS_EMBEDDED ? 3_600_000 : 0);
      expect(Math.abs(endsInMs - expectedMs)).toBeLessThan(10_000);
    } finally {
      await setZone('SYSTEM');
    }
  });

  it('is granted even if a worker of another lane looks for jobs at the same time', async () => {
    const jobs = observer.get(JobsRepository);
    for (let round = 0; round < 100; round += 1) {
      await observer.add({ kind: 'work' });
      const [taken] = await Promise.all([
        jobs.claim({ lane: 'short', kinds: ['work'], limit: 20 }),
        jobs.claim({ lane: 'long', kinds: ['work'], limit: 1 }),
        jobs.claim({ lane: 'long', kinds: ['work'], limit: 1 }),
      ]);
      expect(taken).toHaveLength(1);
    }
  });

  it('is granted for disjoint jobs to concurrent workers, and never for a held job', async () => {
    await observer.add(...Array.from({ length: 60 }, () => ({ kind: 'work' })));
    const claims = await Promise.all(
      Array.from({ length: 12 }, () =>
        observer.get(JobsRepository).claim({ lane: 'short', kinds: ['work'], limit: 10 }),
      ),
    );
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await observer.get(JobsRepository).claim({ lane: 'short', kinds: ['work'], limit: 100 });
    expect(ids.length + rest.length).toBe(60);
    expect(await observer.get(JobsRepository).claim({ lane: 'short', kinds: ['work'], limit: 1 })).toEqual(
      [],
    );
  });
});
