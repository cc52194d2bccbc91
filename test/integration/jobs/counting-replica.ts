import { afterAll, afterEach, beforeEach, expect, vi } from 'vitest';
import { JobRelay } from '../../../src/modules/jobs/broker/job-relay.js';
import type { Job, JobContext, JobHandler } from '../../../src/modules/jobs/model/job-queue.types.js';
import { redisCli, type ProbedServer } from '../../support/discovery/servers.js';
import { type Gate, JobReplica } from './job-replica.js';

/** What a replica does with a job. */
export type Run = (job: Job, context: JobContext, replica: JobReplica) => Promise<void>;

export const complete: Run = (job, _context, { database, queue }) =>
  database.write((manager) => queue.complete(manager, job));

/** The replicas of a suite on one Redis. */
export interface RedisReplicas {
  /** Jobs that were begun in this test. */
  readonly begun: Job[];
  /** Those that run; to be filled by the test. */
  readonly replicas: JobReplica[];
  readonly url: () => string;
}

/** Empties Redis before each test of a suite, and stops the replicas after it. The server stops with the suite. */
export function replicasOn(server: ProbedServer): RedisReplicas {
  const [begun, replicas]: [Job[], JobReplica[]] = [[], []];
  beforeEach(async () => {
    begun.length = 0;
    await redisCli(server.port, 'flushall');
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await replicas[0]?.clear();
    await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  });
  afterAll(() => server.server.stop());
  return { begun, replicas, url: () => `redis://default:admin@127.0.0.1:${server.port}` };
}

/**
 * A replica with jobs of the kind `work`.
 * @param begun is told of each that begins
 */
export function startWorking(
  begun: Job[],
  settings: Record<string, string>,
  run: Run,
  rest: Partial<JobHandler> = {},
): Promise<JobReplica> {
  return JobReplica.start(
    (self) => [
      {
        kind: 'work',
        run: (job, context) => {
          begun.push(job);
          return run(job, context, self);
        },
        ...rest,
      },
    ],
    { JOBS_SWEEP_MS: '200', ...settings },
  );
}

/**
 * A replica whose jobs of the kind `work` do nothing but be counted.
 * @param gate what they wait for before they end
 */
export function startCounting(
  begun: Job[],
  REDIS_URL: string,
  settings: Record<string, string> = {},
  gate?: Gate,
): Promise<JobReplica> {
  return startWorking(begun, { REDIS_URL, ...settings }, async (...run) => {
    await gate?.opened;
    await complete(...run);
  });
}

/** Waits until a replica counts on Redis, or no longer does. */
export async function leading(replica: JobReplica, isLeading = true): Promise<void> {
  await vi.waitFor(() => expect(replica.get(JobRelay).isLeading).toBe(isLeading), { timeout: 20_000 });
}
