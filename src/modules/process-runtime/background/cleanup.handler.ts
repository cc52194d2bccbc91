import { processLimits } from '../process.limits.js';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { Database } from '../../../database/database.js';
import type { Job, JobContext, JobHandler } from '../../jobs/model/job-queue.types.js';
import { ExpiredRows, type Removal } from './expired-rows.js';
import { ScheduledJobs, type ScheduledJob } from './scheduled-jobs.js';
import { TimerOutbox } from './timer-outbox.js';

const SECOND_MS = 1_000;

/** Removes rows that mean nothing any more, again and again, in one replica at a time. Never given up. */
@Injectable()
export class CleanupHandler implements JobHandler, OnApplicationBootstrap {
  readonly kind = 'PROCESS_CLEANUP';
  /** Nobody waits for it. */

  constructor(
    private readonly database: Database,
    private readonly expired: ExpiredRows,
    private readonly jobs: ScheduledJobs,
    private readonly outbox: TimerOutbox,
    private readonly clock: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const first = this.next(this.clock.now());
    const id = await this.jobs.reserve(first);
    await this.database.write((manager) => this.jobs.add(manager, id, first));
  }

  async run(job: Job, { signal }: JobContext): Promise<void> {
    const now = this.clock.now();
    for (const removal of this.expired.removals(now)) {
      await this.removeAll(signal, removal);
    }
    await this.outbox.bring();
    await this.jobs.replace(job, this.next(now));
  }

  /** Statement by statement, so that none holds many rows for long. */
  private async removeAll(signal: AbortSignal, remove: Removal): Promise<void> {
    const limit = processLimits.cleanupRows;
    for (let removed = limit; removed === limit && !signal.aborted;) {
      removed = await this.database.write((manager) => remove(manager, limit));
    }
  }

  private next(now: Date): ScheduledJob {
    return {
      kind: 'PROCESS_CLEANUP',
      at: now.getTime() + processLimits.cleanupSeconds * SECOND_MS,
    };
  }
}
