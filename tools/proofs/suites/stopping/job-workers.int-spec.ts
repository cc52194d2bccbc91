import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DatabaseDeadlineError } from '../../../../src/store/database.errors.js';
import type { Job, JobContext, JobHandler } from '../../../../src/jobs/model/job-queue.types.js';
import { JobAttemptsUsedUpError, JobGiveUpError } from '../../../../src/jobs/queue/jobs.errors.js';
import { RuntimeJobEntity } from '../../../../src/jobs/storage/runtime-job.entity.js';
import { JobsRepository } from '../../../../src/jobs/storage/jobs.repository.js';
import { TcpProxy } from '../../../../test/integration/health/tcp-proxy.js';
import { Gate, IS_EMBEDDED, JobReplica } from '../../../../test/integration/jobs/job-replica.js';

type Run = (job: Job, context: JobContext, replica: JobReplica) => Promise<void>;

const complete: Run = (job, _context, { database, queue }) =>
  database.write((manager) => queue.complete(manager, job));

const change = (replica: JobReplica, values: Partial<RuntimeJobEntity>): Promise<unknown> =>
  replica.database.write((manager) =>
    manager
      .createQueryBuilder()
      .update(RuntimeJobEntity)
      .set(values as never)
      .execute(),
  );

const last = (replicas: JobReplica[]): JobReplica => {
  const replica = replicas.at(-1);
  if (replica === undefined) {
    throw new Error('no replica was started');
  }
  return replica;
};

/** Runs until aborted. */
const waitForAbort: Run = (_job, { signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('job workers', () => {
  const replicas: JobReplica[] = [];
  let runs: Job[];
  let givenUp: { job: Job; error: unknown }[];

  beforeEach(() => {
    [runs, givenUp] = [[], []];
  });
  afterEach(async () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    const [last] = replicas;
    await last?.clear();
    await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  });

  const handler = (
    replica: JobReplica,
    run: Run,
    rest: Partial<Omit<JobHandler, 'run'>> = {},
  ): JobHandler => ({
    kind: 'work',
    run: (job, context) => {
      runs.push(job);
      return run(job, context, replica);
    },
    giveUp: async (job, error) => {
      givenUp.push({ job, error });
      await replica.database.write((manager) => replica.queue.complete(manager, job));
    },
    ...rest,
  });
  const start = async (
    run: Run,
    settings: Record<string, string> = {},
    rest: Partial<Omit<JobHandler, 'run'>> = {},
  ): Promise<JobReplica> => {
    const replica = await JobReplica.start((self) => [handler(self, run, rest)], settings);
    replicas.push(replica);
    return replica;
  };

  it('run a job once with the stored values, and count it', async () => {
    const replica = await start(complete);
    const availableAt = new Date(Date.now() - 5_000);
    const [id] = await replica.add({
      kind: 'work',
      payload: { a: [1] },
      instanceId: 3,
      tokenId: 4,
      availableAt,
    });
    await replica.drained();
    expect(runs).toMatchObject([
      {
        id,
        kind: 'work',
        payload: { a: [1] },
        instanceId: 3,
        tokenId: 4,
        attempts: 1,
        failures: 0,
        availableAt,
      },
    ]);
    await vi.waitFor(async () =>
      expect(await replica.metrics.text()).toContain(
        'svc_job_duration_seconds_count{kind="work",outcome="completed"} 1',
      ),
    );
  });

  it('do not run a job before it is due', async () => {
    const replica = await start(complete);
    await replica.add({ kind: 'work', availableAt: new Date(Date.now() + 600) });
    await sleep(200);
    expect(runs).toEqual([]);
    await replica.drained();
    expect(runs).toHaveLength(1);
  });

  it('are woken by a commit of their own replica', async () => {
    const claims = vi.spyOn(JobsRepository.prototype, 'claim').mock;
    // Without timers, only the commit can wake the workers.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const replica = await start(complete, { 'jobLimits.pollMs': '60000' });
    while (claims.calls.length === 0 || claims.settledResults.some(({ type }) => type === 'incomplete')) {
      await nextTurn();
    }
    expect(runs).toEqual([]);
    await replica.add({ kind: 'work' });
    while (runs.length === 0) {
      await nextTurn();
    }
    expect(runs).toHaveLength(1);
  });

  it('run at most JOBS_CONCURRENCY jobs concurrently', async () => {
    let [now, most] = [0, 0];
    const run: Run = async (job, context, replica) => {
      now += 1;
      most = Math.max(most, now);
      await sleep(10);
      await complete(job, context, replica);
      now -= 1;
    };
    const replica = await start(run, { JOBS_CONCURRENCY: '3' });
    await replica.add(...Array.from({ length: 30 }, () => ({ kind: 'work' })));
    await replica.drained();
    expect([runs.length, most]).toEqual([30, 3]);
  });

  it('start jobs in the order in which they are due', async () => {
    const replica = await start(complete, { JOBS_CONCURRENCY: '1', 'jobLimits.batch': '7' });
    const due = Date.now() - 60_000;
    const ids = await replica.add(
      ...Array.from({ length: 30 }, (_, index) => ({
        kind: 'work',
        // Jobs of different shards are not ordered.
        shard: 0,
        availableAt: new Date(due - index * 1_000),
      })),
    );
    await replica.drained();
    expect(runs.map(({ id }) => id)).toEqual(ids.toReversed());
  });

  it('run short jobs while every worker for long ones is busy', async () => {
    const run: Run = async (job, context, replica) => {
      await vi.waitFor(() => expect(shortDone).toBe(10));
      await complete(job, context, replica);
    };
    let shortDone = 0;
    const replica = await JobReplica.start(
      (self) => [
        handler(self, run, { kind: 'agent', leaseMs: 60_000 }),
        handler(
          self,
          async (job, context) => {
            await complete(job, context, self);
            shortDone += 1;
          },
          { kind: 'timer' },
        ),
      ],
      { 'jobLimits.longConcurrency': '2' },
    );
    replicas.push(replica);
    await replica.add(...Array.from({ length: 30 }, () => ({ kind: 'agent' })));
    await replica.add(...Array.from({ length: 10 }, () => ({ kind: 'timer' })));
    await replica.drained();
    expect(runs.filter(({ kind }) => kind === 'timer')).toHaveLength(10);
  });

  it('retry a failing job until its attempts are used up, then give it up', async () => {
    const replica = await start(() => Promise.reject(new Error('broken')), { 'jobLimits.maxAttempts': '3' });
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(runs.map(({ attempts }) => attempts)).toEqual([1, 2, 3]);
    expect(givenUp).toMatchObject([{ job: { attempts: 3 }, error: { message: 'broken' } }]);
    const text = await replica.metrics.text();
    expect(text).toContain('svc_job_duration_seconds_count{kind="work",outcome="failed"} 2');
    expect(text).toContain('svc_job_duration_seconds_count{kind="work",outcome="given_up"} 1');
  });

  it('wait before each retry, longer each time', async () => {
    const times: number[] = [];
    const run: Run = () => {
      times.push(performance.now());
      return Promise.reject(new Error('broken'));
    };
    const replica = await start(run, {
      'jobLimits.maxAttempts': '3',
      'jobLimits.retryBaseMs': '200',
      'jobLimits.retryMaxMs': '60000',
    });
    await replica.add({ kind: 'work' });
    await replica.drained();
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(95);
    expect(third - second).toBeGreaterThanOrEqual(195);
  });

  it('give up a job immediately at the request of its handler', async () => {
    const replica = await start(() => Promise.reject(new JobGiveUpError('pointless')));
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(runs).toHaveLength(1);
    expect(givenUp).toMatchObject([{ error: { message: 'pointless' } }]);
  });

  it('give up a job that crashed its process at every attempt, without another run', async () => {
    const replica = await start(complete, { 'jobLimits.maxCrashes': '2' });
    await replica.add({ kind: 'work', availableAt: new Date(Date.now() + 60_000) });
    await change(replica, {
      attempts: 2,
      lease: 'of a dead worker',
      availableAt: new Date(Date.now() - 1_000),
    });
    await replica.drained();
    expect(runs).toEqual([]);
    expect(givenUp).toHaveLength(1);
    expect(givenUp[0]?.error).toBeInstanceOf(JobAttemptsUsedUpError);
  });

  it('do not count crashed attempts as failures', async () => {
    const replica = await start(
      (...run) => (runs.length < 2 ? Promise.reject(new Error('broken')) : complete(...run)),
      { 'jobLimits.maxAttempts': '2' },
    );
    await replica.add({ kind: 'work', availableAt: new Date(Date.now() + 60_000) });
    await change(replica, {
      attempts: 10,
      lease: 'of a dead worker',
      availableAt: new Date(Date.now() - 1_000),
    });
    await replica.drained();
    expect(runs).toMatchObject([
      { attempts: 11, failures: 0 },
      { attempts: 12, failures: 1 },
    ]);
    expect(givenUp).toEqual([]);
  });

  it('never give up a job whose handler lacks giveUp', async () => {
    const replica: JobReplica = await JobReplica.start(
      (self) => [
        {
          kind: 'work',
          run: (job, context) => {
            runs.push(job);
            return runs.length < 4
              ? Promise.reject(new JobGiveUpError('pointless'))
              : complete(job, context, self);
          },
        },
      ],
      { 'jobLimits.maxAttempts': '1', 'jobLimits.maxCrashes': '1' },
    );
    replicas.push(replica);
    await replica.add({ kind: 'work', availableAt: new Date(Date.now() + 60_000) });
    await change(replica, { attempts: 50, failures: 5, availableAt: new Date(Date.now() - 1_000) });
    await replica.drained();
    expect(runs.map(({ attempts, failures }) => [attempts, failures])).toEqual([
      [51, 5],
      [52, 6],
      [53, 7],
      [54, 8],
    ]);
  });

  it('do not count database failures as job failures', async () => {
    const run: Run = async (job, context, replica) => {
      if (runs.length < 6) {
        await replica.database.write((manager) => manager.query('DELETE FROM a_table_that_is_away'));
      }
      await complete(job, context, replica);
    };
    const replica = await start(run, { 'jobLimits.maxAttempts': '1', 'jobLimits.maxCrashes': '1' });
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(runs.map(({ attempts, failures }) => [attempts, failures])).toEqual(
      [1, 2, 3, 4, 5, 6].map((attempts) => [attempts, 0]),
    );
    expect(givenUp).toEqual([]);
    expect(await replica.metrics.text()).toContain(
      'svc_job_duration_seconds_count{kind="work",outcome="interrupted"} 5',
    );
  });

  it('count a database failure as one even if the lease ended in the meantime', async () => {
    const run: Run = async (job, context, replica) => {
      if (job.attempts > 3) {
        return complete(job, context, replica);
      }
      await new Promise((resolve) => {
        context.signal.addEventListener('abort', resolve);
      });
      throw new DatabaseDeadlineError();
    };
    // One worker, so that no other claims the job between the end of its lease and the write of the run.
    const settings = { 'jobLimits.maxCrashes': '1', JOBS_CONCURRENCY: '1' };
    const replica = await start(run, settings, { leaseMs: 300 });
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(runs.map(({ interruptions }) => interruptions)).toEqual([0, 1, 2, 3]);
    expect(givenUp).toEqual([]);
  });

  it('store that a job was interrupted as soon as the database accepts it', async () => {
    const run: Run = (job, context, replica) =>
      job.attempts === 1 ? Promise.reject(new DatabaseDeadlineError()) : complete(job, context, replica);
    const replica = await start(run);
    const putOff = vi.spyOn(replica.get(JobsRepository), 'putOffInterrupted');
    for (let count = 0; count < 4; count += 1) {
      putOff.mockRejectedValueOnce(new DatabaseDeadlineError());
    }
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(putOff).toHaveBeenCalledTimes(5);
    expect(runs).toMatchObject([{ interruptions: 0 }, { attempts: 2, interruptions: 1 }]);
  });

  it('count invalid statements as job failures', async () => {
    const run: Run = async (_job, _context, { database }) => {
      await database.write((manager) => manager.query('DELETE FRO runtime_jobs'));
    };
    const replica = await start(run, { 'jobLimits.maxAttempts': '2' });
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(runs).toHaveLength(2);
    expect(givenUp).toHaveLength(1);
  });

  it('report the age of a deferred job until it runs, but not as waiting for a worker', async () => {
    const shown = async (): Promise<{ age: number; wait: number }> => {
      const text = await last(replicas).metrics.text();
      return {
        age: Number(/svc_job_queue_age_seconds\{lane="short"\} (\S+)/.exec(text)?.[1]),
        wait: Number(/svc_job_wait_seconds\{lane="short"\} (\S+)/.exec(text)?.[1]),
      };
    };
    const gate = new Gate();
    const run: Run = async (job, context, replica) => {
      if (runs.length === 1) {
        throw new Error('broken');
      }
      await gate.opened;
      await complete(job, context, replica);
    };
    const delays = { 'jobLimits.retryBaseMs': '2000', 'jobLimits.retryMaxMs': '2000' };
    const replica = await start(run, delays);
    await replica.add(
      { kind: 'work', availableAt: new Date(Date.now() - 30_000) },
      { kind: 'work', availableAt: new Date(Date.now() + 60_000) },
    );
    await vi.waitFor(async () => {
      const { age, wait } = await shown();
      expect(age).toBeGreaterThan(29);
      expect(wait).toBe(0);
    });
    await vi.waitFor(() => expect(runs).toHaveLength(2));
    expect(await shown()).toEqual({ age: 0, wait: 0 });
    gate.open();
  });

  it('retry giveUp when it fails', async () => {
    let calls = 0;
    const replica: JobReplica = await start(
      () => Promise.reject(new Error('broken')),
      { 'jobLimits.maxAttempts': '1' },
      {
        giveUp: async (job) => {
          calls += 1;
          if (calls < 3) {
            throw new Error('also broken');
          }
          await replica.database.write((manager) => replica.queue.complete(manager, job));
        },
      },
    );
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(calls).toBe(3);
    expect(runs).toHaveLength(1);
  });

  it('count a handler that returns without completing as failed', async () => {
    const replica = await start(() => Promise.resolve(), { 'jobLimits.maxAttempts': '2' });
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(runs).toHaveLength(2);
    expect(givenUp).toMatchObject([{ error: { code: 'JOB_NOT_COMPLETED' } }]);
  });

  it('leave jobs of unknown kinds unchanged', async () => {
    const replica = await start(complete);
    await replica.add({ kind: 'newer' }, { kind: 'work' }, { kind: 'newer' });
    await vi.waitFor(() => expect(runs).toHaveLength(1));
    await sleep(100);
    expect(await replica.stored()).toMatchObject([
      { kind: 'newer', attempts: 0, lease: null },
      { kind: 'newer', attempts: 0, lease: null },
    ]);
  });

  it('do nothing with JOBS_CONCURRENCY=0', async () => {
    const replica = await start(complete, { JOBS_CONCURRENCY: '0' });
    await replica.add({ kind: 'work' });
    await sleep(150);
    expect(runs).toEqual([]);
    // The job became due a second before it was added. Scrapes do not wait for a slow database.
    await vi.waitFor(async () => {
      const text = await replica.metrics.text();
      for (const name of ['svc_job_queue_age_seconds', 'svc_job_wait_seconds']) {
        const [, seconds] = new RegExp(`${name}\\{lane="short"\\} (\\S+)`).exec(text) ?? [];
        expect(Number(seconds), name).toBeGreaterThan(1);
      }
    });
  });

  it('continue after a database outage, without hammering it meanwhile', async () => {
    const replica = await start(complete);
    let refused = 0;
    const outage = (): Promise<never> => {
      refused += 1;
      return Promise.reject(new Error('outage'));
    };
    const spies = (['read', 'write'] as const).map((door) =>
      vi.spyOn(replica.database, door).mockImplementation(outage),
    );
    await sleep(1_000);
    // Two lanes of four workers, with pauses of 50 to 100, 100 to 200, 200 to 400 … milliseconds.
    expect(refused).toBeLessThan(60);
    await vi.waitFor(() => expect(refused).toBeGreaterThan(2));
    spies.forEach((spy) => spy.mockRestore());
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(runs).toHaveLength(1);
  });

  it.skipIf(IS_EMBEDDED)('continue after the server closed all connections and came back', async () => {
    const url = String(process.env['DATABASE_URL']);
    const proxy = await TcpProxy.start(url);
    const replica = await start(complete, { DATABASE_URL: proxy.through(url) });
    const observer = await start(complete, { JOBS_CONCURRENCY: '0' });
    await replica.add({ kind: 'work' });
    await observer.drained();
    proxy.set('down');
    await observer.add({ kind: 'work' }, { kind: 'work' });
    await sleep(500);
    expect(runs).toHaveLength(1);
    proxy.set('open');
    await observer.drained();
    expect(runs).toHaveLength(3);
    replicas.splice(replicas.indexOf(replica), 1);
    await replica.stop();
    await proxy.stop();
  });

  describe('during shutdown', () => {
    it('return jobs that have not started and let running jobs finish', async () => {
      const gate = new Gate();
      const run: Run = async (job, context, replica) => {
        await gate.opened;
        await complete(job, context, replica);
      };
      const replica = await start(run, { JOBS_CONCURRENCY: '1' });
      await replica.add(...Array.from({ length: 5 }, () => ({ kind: 'work' })));
      await vi.waitFor(() => expect(runs).toHaveLength(1));
      const watcher = await start(complete, { JOBS_CONCURRENCY: '0' });
      const stopped = replica.stop();
      replicas.splice(replicas.indexOf(replica), 1);
      await vi.waitFor(async () =>
        expect((await watcher.stored()).filter(({ lease }) => lease === null)).toHaveLength(4),
      );
      gate.open();
      await stopped;
      const left = await watcher.stored();
      expect(left.map(({ attempts, lease }) => ({ attempts, lease }))).toEqual(
        Array.from({ length: 4 }, () => ({ attempts: 0, lease: null })),
      );
      expect(Math.max(...left.map(({ availableAt }) => availableAt.getTime()))).toBeLessThan(
        Date.now() + 5_000,
      );
      expect(runs).toHaveLength(1);
    });

    it('abort running jobs after jobLimits.stopGraceMs without counting the attempt', async () => {
      const replica = await start(waitForAbort, { 'jobLimits.stopGraceMs': '50' });
      await replica.add({ kind: 'work' });
      await vi.waitFor(() => expect(runs).toHaveLength(1));
      const watcher = await start(complete, { JOBS_CONCURRENCY: '0' });
      replicas.splice(replicas.indexOf(replica), 1);
      await replica.stop();
      expect(await watcher.stored()).toMatchObject([{ attempts: 0, lease: null }]);
      expect(givenUp).toEqual([]);
    });

    it('do not wait forever for a job that ignores its abort signal', async () => {
      const replica = await start(() => new Promise(() => undefined), { 'jobLimits.stopGraceMs': '0' });
      await replica.add({ kind: 'work' });
      await vi.waitFor(() => expect(runs).toHaveLength(1));
      const watcher = await start(complete, { JOBS_CONCURRENCY: '0' });
      replicas.splice(replicas.indexOf(replica), 1);
      await replica.stop();
      expect(await watcher.stored()).toHaveLength(1);
    });
  });
});
