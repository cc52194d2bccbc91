import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Log } from '../../platform/observability/logging/log.js';
import { isDatabaseFailure } from '../../store/database.errors.js';
import { Database } from '../../store/database.js';
import { retryDelay } from './job-delay.js';
import type { JobLease } from './job-lease.js';
import type { Job } from '../model/job-queue.types.js';
import { LeaseLostError } from '../queue/jobs.errors.js';
import { JobsRepository } from '../storage/jobs.repository.js';
import { jobLimits } from '../job.limits.js';

/** A run that did not complete its job, and what it counts as. */
interface RunEnd {
  /** `attempts` counts this run. */
  job: Job;
  countedAs: 'failure' | 'interruption';
}

/**
 * Stores how runs ended that did not complete their jobs. What is not stored looks like a process that died. An end that a
 * failure of our own database keeps from being stored is owed. It is stored before this replica claims anything again. So,
 * while the process lives, no such run counts as a crash.
 */
@Injectable()
export class JobEnds {
  private readonly owed = new Set<RunEnd>();
  private paying: Promise<void> | undefined;

  constructor(
    private readonly jobs: JobsRepository,
    private readonly database: Database,
    private readonly log: Log,
  ) {}

  /** Whether a job shall not be run again: too many runs of it failed, or ended with their process. */
  isUsedUp({ attempts, failures, interruptions }: Job): boolean {
    const crashes = attempts - 1 - failures - interruptions;
    return failures >= jobLimits.maxAttempts || crashes >= jobLimits.maxCrashes;
  }

  /** Whether a job that fails now has failed often enough. */
  isLastFailure({ failures }: Job): boolean {
    return failures + 1 >= jobLimits.maxAttempts;
  }

  /**
   * Whether a failure of our own database ended a run that failed. The error says so, or the run lost its lease while the
   * database failed. Then the lease could not be kept, or the end not be stored.
   */
  isInterruption(error: unknown, lease: JobLease): boolean {
    const isLost = error instanceof LeaseLostError || lease.endedBy instanceof LeaseLostError;
    return (
      isDatabaseFailure(error) ||
      (isLost && (lease.isUnanswered || this.database.hasFailedSince(lease.since)))
    );
  }

  /**
   * Puts the job off, and counts the run. Tries it again while the database is away and the lease lasts; after that it is owed.
   * @throws what is no failure of the database
   */
  async store(end: RunEnd, lease: JobLease): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.settle(end);
        return;
      } catch (error) {
        if (!isDatabaseFailure(error)) {
          throw error;
        }
      }
      if (lease.endedBy !== undefined) {
        this.owed.add(end);
        return;
      }
      await sleep(this.delayAfter(attempt), undefined, { signal: lease.signal }).catch(() => undefined);
    }
  }

  /** The run was perhaps begun, and that is all: nobody knows whether the database has counted it. */
  oweInterruption(job: Job): void {
    this.owed.add({ job, countedAs: 'interruption' });
  }

  /**
   * Those who come while it is under way wait for the same, since nothing may be claimed before it has ended.
   * @throws when the database still cannot do it
   */
  payOwed(): Promise<void> {
    this.paying ??= this.pay().finally(() => {
      this.paying = undefined;
    });
    return this.paying;
  }

  private async pay(): Promise<void> {
    for (const end of this.owed) {
      this.owed.delete(end);
      try {
        await this.settle(end);
      } catch (error) {
        if (isDatabaseFailure(error)) {
          this.owed.add(end);
          throw error;
        }
        this.log.error('what became of a job could not be stored', error, { jobId: end.job.id });
      }
    }
  }

  /** Milliseconds that a job waits after so many attempts. */
  delayAfter(attempts: number): number {
    const bounds = { baseMs: jobLimits.retryBaseMs, maxMs: jobLimits.retryMaxMs };
    return retryDelay(attempts, bounds);
  }

  private async settle({ job, countedAs }: RunEnd): Promise<void> {
    const delayMs = this.delayAfter(job.attempts);
    if (countedAs === 'failure' && (await this.jobs.putOffFailed(job, delayMs))) {
      return;
    }
    // A failure that came too late to count as such must not look like a crash either.
    await this.jobs.putOffInterrupted(job, delayMs);
  }
}
