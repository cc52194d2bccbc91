import { Injectable } from '@nestjs/common';
import { SingleFlight } from '../../platform/concurrency/single-flight.js';
import { withRetries } from '../../platform/concurrency/retry.js';
import { Log } from '../../platform/observability/logging/log.js';
import { isDatabaseFailure } from '../../store/database.errors.js';
import { Database } from '../../store/database.js';
import { retryDelay } from './job-delay.js';
import type { JobLease } from './job-lease.js';
import type { Job } from '../model/job-queue.types.js';
import { LeaseLostError } from '../queue/jobs.errors.js';
import { JobsRepository } from '../storage/jobs.repository.js';
import { jobLimits } from '../job.limits.js';

/** An attempt that did not complete its job, and how it counts. */
interface AttemptOutcome {
  /** Its `attempts` includes this one. */
  job: Job;
  countedAs: 'failure' | 'interruption';
}

/**
 * Stores the outcome of attempts that did not complete their jobs. An outcome that is never stored looks like a crash. If the service's
 * own database fails, the outcome is kept and stored before this replica claims again, so the attempt does not count as a crash while
 * the replica lives.
 */
@Injectable()
export class JobOutcomes {
  private readonly pending = new Set<AttemptOutcome>();
  private readonly storing = new SingleFlight<'pending', void>();

  constructor(
    private readonly jobs: JobsRepository,
    private readonly database: Database,
    private readonly log: Log,
  ) {}

  /** Returns whether too many attempts failed or crashed to run the job again. */
  isUsedUp({ attempts, failures, interruptions }: Job): boolean {
    const crashes = attempts - 1 - failures - interruptions;
    return failures >= jobLimits.maxAttempts || crashes >= jobLimits.maxCrashes;
  }

  /** Returns whether one more failure uses up the attempts of a job. */
  isLastFailure({ failures }: Job): boolean {
    return failures + 1 >= jobLimits.maxAttempts;
  }

  /**
   * Returns whether a failure of the service's own database ended an attempt: the error says so, or the attempt lost its lease while the
   * database failed, so the lease could not be renewed or the outcome could not be stored.
   */
  isInterruption(error: unknown, lease: JobLease): boolean {
    const isLost = error instanceof LeaseLostError || lease.endedBy instanceof LeaseLostError;
    return (
      isDatabaseFailure(error) ||
      (isLost && (lease.isRenewalUnanswered || this.database.hasFailedSince(lease.since)))
    );
  }

  /**
   * Postpones the job and counts the attempt. Retries while the database is unavailable and the lease lasts, then keeps the outcome for
   * `storePending`.
   * @throws errors that are not a failure of the database
   */
  async store(outcome: AttemptOutcome, lease: JobLease): Promise<void> {
    const recover = (error: unknown): boolean => isDatabaseFailure(error) && lease.endedBy === undefined;
    const policy = { retries: Infinity, recover, delayMs: retryDelay, signal: lease.signal };
    try {
      await withRetries(policy, () => this.settle(outcome));
    } catch (error) {
      if (!isDatabaseFailure(error)) {
        throw error;
      }
      this.pending.add(outcome);
    }
  }

  /** Keeps an interruption for `storePending`, when it is unknown whether the database still counts the attempt. */
  deferInterruption(job: Job): void {
    this.pending.add({ job, countedAs: 'interruption' });
  }

  /**
   * Stores outcomes that a failure of the database delayed. Concurrent calls share one run, because no job may be claimed before it
   * ends.
   * @throws when the database is still unavailable
   */
  storePending(): Promise<void> {
    return this.storing.run('pending', () => this.storeAll());
  }

  private async storeAll(): Promise<void> {
    for (const outcome of this.pending) {
      this.pending.delete(outcome);
      try {
        await this.settle(outcome);
      } catch (error) {
        if (isDatabaseFailure(error)) {
          this.pending.add(outcome);
          throw error;
        }
        this.log.error('the outcome of a job could not be stored', error, { jobId: outcome.job.id });
      }
    }
  }

  private async settle({ job, countedAs }: AttemptOutcome): Promise<void> {
    const delayMs = retryDelay(job.attempts);
    if (countedAs === 'failure' && (await this.jobs.putOffFailed(job, delayMs))) {
      return;
    }
    // The lease was lost before the failure could be counted. Without this it would look like a crash.
    await this.jobs.putOffInterrupted(job, delayMs);
  }
}
