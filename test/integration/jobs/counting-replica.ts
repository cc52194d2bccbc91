import { expect, vi } from 'vitest';
import { JobRelay } from '../../../src/modules/jobs/broker/job-relay.js';
import type { Job } from '../../../src/modules/jobs/model/job-queue.types.js';
import { type Gate, JobReplica } from './job-replica.js';

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
  return JobReplica.start(
    (self) => [
      {
        kind: 'work',
        run: async (job) => {
          begun.push(job);
          await gate?.opened;
          await self.database.write((manager) => self.queue.complete(manager, job));
        },
      },
    ],
    { REDIS_URL, JOBS_SWEEP_MS: '200', ...settings },
  );
}

/** Waits until a replica counts on Redis, or no longer does. */
export async function leading(replica: JobReplica, isLeading = true): Promise<void> {
  await vi.waitFor(() => expect(replica.get(JobRelay).isLeading).toBe(isLeading), { timeout: 20_000 });
}
