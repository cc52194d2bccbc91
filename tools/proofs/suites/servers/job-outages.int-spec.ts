import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DatabaseUnavailableError } from '../../../../src/store/database.errors.js';
import type { Job, JobContext } from '../../../../src/jobs/model/job-queue.types.js';
import { JobAttemptsUsedUpError } from '../../../../src/jobs/queue/jobs.errors.js';
import { JobsRepository } from '../../../../src/jobs/storage/jobs.repository.js';
import { TcpProxy } from '../../../../test/integration/health/tcp-proxy.js';
import { IS_EMBEDDED, JobReplica } from '../../../../test/integration/jobs/job-replica.js';

type Run = (job: Job, context: JobContext, replica: JobReplica) => Promise<void>;

const LEASE_MS = 300;
/** With these minimal limits the first run that counts as a crash gives the job up. */
const SETTINGS = { 'jobLimits.maxAttempts': '1', 'jobLimits.maxCrashes': '1', JOBS_CONCURRENCY: '1' };

const away = (): Promise<never> => Promise.reject(new DatabaseUnavailableError(undefined));

/** Runs until aborted. */
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('a database failure does not count as a job crash', () => {
  let replica: JobReplica;
  let proxy: TcpProxy | undefined;
  let runs: Job[];
  let givenUp: unknown[];

  beforeEach(() => {
    [runs, givenUp] = [[], []];
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await replica.clear();
    await replica.stop();
    await proxy?.stop();
    proxy = undefined;
  });

  /** Starts a replica whose first run is as given and whose later runs complete the job. */
  const start = async (first: Run, settings: Record<string, string> = {}): Promise<JobReplica> => {
    replica = await JobReplica.start(
      (self) => [
        {
          kind: 'work',
          leaseMs: LEASE_MS,
          run: async (job, context) => {
            runs.push(job);
            await (runs.length === 1
              ? first(job, context, self)
              : self.database.write((manager) => self.queue.complete(manager, job)));
          },
          giveUp: async (job, error) => {
            givenUp.push(error);
            await self.database.write((manager) => self.queue.complete(manager, job));
          },
        },
      ],
      { ...SETTINGS, ...settings },
    );
    return replica;
  };
  const seen = (): number[][] =>
    runs.map(({ attempts, failures, interruptions }) => [attempts, failures, interruptions]);

  it('that lasts longer than the lease', async () => {
    await start(away);
    const jobs = replica.get(JobsRepository);
    const putOff = jobs.putOffInterrupted.bind(jobs);
    const end = performance.now() + 4 * LEASE_MS;
    const tried = vi
      .spyOn(jobs, 'putOffInterrupted')
      .mockImplementation((...given) =>
        tried.mock.calls.length <= 2 || performance.now() < end ? away() : putOff(...given),
      );
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(performance.now()).toBeGreaterThan(end);
    expect(tried.mock.calls.length).toBeGreaterThan(2);
    expect(seen()).toEqual([
      [1, 0, 0],
      [2, 0, 1],
    ]);
    expect(givenUp).toEqual([]);
  });

  it('that lasts longer than the lease of a failed job', async () => {
    await start(() => Promise.reject(new Error('broken')), { 'jobLimits.maxAttempts': '2' });
    const jobs = replica.get(JobsRepository);
    const putOff = jobs.putOffFailed.bind(jobs);
    const end = performance.now() + 4 * LEASE_MS;
    vi.spyOn(jobs, 'putOffFailed').mockImplementation((...given) =>
      performance.now() < end ? away() : putOff(...given),
    );
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(seen()).toEqual([
      [1, 0, 0],
      [2, 1, 0],
    ]);
    expect(givenUp).toEqual([]);
  });

  it.each([
    ['was stored', true],
    ['was not stored', false],
  ])('that leaves open whether a claim %s', async (_what, isStored) => {
    await start((job, _context, { database, queue }) =>
      database.write((manager) => queue.complete(manager, job)),
    );
    const { manager } = replica.get(DataSource);
    const send = manager.query.bind(manager) as (sql: string, values?: unknown) => Promise<unknown>;
    let lost = 0;
    vi.spyOn(manager, 'query').mockImplementation(async (sql: string, values?: unknown) => {
      if (lost === 0 && sql.startsWith('UPDATE')) {
        lost += 1;
        if (isStored) {
          await send(sql, values);
        }
        throw new DatabaseUnavailableError(undefined);
      }
      return send(sql, values);
    });
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(lost).toBe(1);
    expect(seen()).toEqual([[1, 0, 0]]);
    expect(givenUp).toEqual([]);
  });

  it.each<[string, Run]>([
    [
      'while heartbeats fail',
      async (_job, context, self) => {
        vi.spyOn(self.get(JobsRepository), 'extend').mockImplementation(away);
        const beat = setInterval(() => void context.heartbeat().catch(() => undefined), 50);
        await untilAborted(context.signal).finally(() => clearInterval(beat));
      },
    ],
    [
      'while other statements fail',
      async (_job, { signal }, { database }) => {
        await database
          .read((manager) => manager.query('SELECT 1 FROM a_table_that_is_away'))
          .catch(() => undefined);
        await untilAborted(signal);
      },
    ],
  ])('that makes a run lose its lease %s', async (_how, first) => {
    await start(first);
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(seen()).toEqual([
      [1, 0, 0],
      [2, 0, 1],
    ]);
    expect(givenUp).toEqual([]);
    expect(await replica.metrics.text()).toContain('outcome="interrupted"} 1');
  });

  it('but a run that exceeds its lease does', async () => {
    await start(async (_job, { signal }) => untilAborted(signal));
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(seen()).toEqual([[1, 0, 0]]);
    expect(givenUp).toEqual([expect.any(JobAttemptsUsedUpError)]);
  });

  it('and is counted if another worker has the job, but not if the job is gone', async () => {
    await start(away, { JOBS_CONCURRENCY: '0' });
    const jobs = replica.get(JobsRepository);
    await replica.add({ kind: 'work' });
    const [mine] = await jobs.claim({ lane: 'short', kinds: ['work'], limit: 1 });
    const job = mine as Job;
    await jobs.putOff(job, 0);
    const [other] = await jobs.claim({ lane: 'short', kinds: ['work'], limit: 1 });
    await jobs.putOffInterrupted(job, 0);
    expect(await replica.stored()).toMatchObject([{ lease: other?.lease, attempts: 2, interruptions: 1 }]);
    await replica.clear();
    await jobs.putOffInterrupted(job, 0);
    expect(await replica.stored()).toEqual([]);
  });

  it.skipIf(IS_EMBEDDED)('on a server that is silent for longer than the lease', async () => {
    const url = String(process.env['DATABASE_URL']);
    const silenced = await TcpProxy.start(url);
    proxy = silenced;
    const watcher = await JobReplica.start(() => [], { JOBS_CONCURRENCY: '0' });
    await start(
      async (job, _context, self) => {
        silenced.set('silent');
        setTimeout(() => silenced.set('open'), 8 * LEASE_MS);
        await self.database.write((manager) => self.queue.complete(manager, job));
      },
      {
        DATABASE_URL: silenced.through(url),
        'databaseLimits.lockWaitSeconds': '1',
        'databaseLimits.silenceMs': '1000',
        'jobLimits.leaseMs': '500',
      },
    );
    await watcher.add({ kind: 'work' });
    await watcher.drained();
    await sleep(100);
    expect(runs.at(-1)).toMatchObject({ failures: 0 });
    expect(runs.every(({ attempts, interruptions }) => attempts - 1 === interruptions)).toBe(true);
    expect(givenUp).toEqual([]);
    await watcher.stop();
  });
});
