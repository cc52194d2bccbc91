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
/** Less than this would end a job by the first run that looks like a crash. */
const SETTINGS = { 'jobLimits.maxAttempts': '1', 'jobLimits.maxCrashes': '1', JOBS_CONCURRENCY: '1' };

const away = (): Promise<never> => Promise.reject(new DatabaseUnavailableError(undefined));

/** Runs until it is told to end. */
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('a failure of our own database is no crash of a job', () => {
  let replica: JobReplica;
  let proxy: TcpProxy | undefined;
  let begun: Job[];
  let givenUp: unknown[];

  beforeEach(() => {
    [begun, givenUp] = [[], []];
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await replica.clear();
    await replica.stop();
    await proxy?.stop();
    proxy = undefined;
  });

  /** The first run is as given, later ones complete the job. */
  const start = async (first: Run, settings: Record<string, string> = {}): Promise<JobReplica> => {
    replica = await JobReplica.start(
      (self) => [
        {
          kind: 'work',
          leaseMs: LEASE_MS,
          run: async (job, context) => {
            begun.push(job);
            await (begun.length === 1
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
    begun.map(({ attempts, failures, interruptions }) => [attempts, failures, interruptions]);

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

  it('that lasts longer than the lease while the job failed by itself', async () => {
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
      'while heartbeats are tried in vain',
      async (_job, context, self) => {
        vi.spyOn(self.get(JobsRepository), 'extend').mockImplementation(away);
        const beat = setInterval(() => void context.heartbeat().catch(() => undefined), 50);
        await untilAborted(context.signal).finally(() => clearInterval(beat));
      },
    ],
    [
      'while it fails others',
      async (_job, { signal }, { database }) => {
        await database
          .read((manager) => manager.query('SELECT 1 FROM a_table_that_is_away'))
          .catch(() => undefined);
        await untilAborted(signal);
      },
    ],
  ])('that costs a run its lease %s', async (_how, first) => {
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

  it('but a run that takes longer than its lease is one', async () => {
    await start(async (_job, { signal }) => untilAborted(signal));
    await replica.add({ kind: 'work' });
    await replica.drained();
    expect(seen()).toEqual([[1, 0, 0]]);
    expect(givenUp).toEqual([expect.any(JobAttemptsUsedUpError)]);
  });

  it('and is counted where another worker has the job by now, but not where it is gone', async () => {
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
    expect(begun.at(-1)).toMatchObject({ failures: 0 });
    expect(begun.every(({ attempts, interruptions }) => attempts - 1 === interruptions)).toBe(true);
    expect(givenUp).toEqual([]);
    await watcher.stop();
  });
});
