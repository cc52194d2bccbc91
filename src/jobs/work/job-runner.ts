import { Inject, Injectable, Optional } from '@nestjs/common';
import { errorFields } from '../../platform/observability/logging/error-fields.js';
import { Log, type LogFields } from '../../platform/observability/logging/log.js';
import { Metrics } from '../../platform/observability/metrics/metrics.js';
import { recordedSpan } from '../../platform/observability/tracing/spans.js';
import { Tracer } from '../../platform/observability/tracing/tracer.js';
import type { JobLane, ClaimedJob, Job, JobHandler } from '../model/job-queue.types.js';
import { asJobSpan } from '../model/job-trace.js';
import { JobOutcomes } from './job-outcomes.service.js';
import { JobHandlersService } from '../queue/job-handlers.service.js';
import { retryDelay } from './job-delay.js';
import { JobLease } from './job-lease.js';
import { JobQueueService } from '../queue/job-queue.service.js';
import {
  JobAttemptsUsedUpError,
  JobGiveUpError,
  JobNotCompletedError,
  JobPutOffError,
  JobStoppedError,
  LeaseLostError,
} from '../queue/jobs.errors.js';
import { JobsRepository } from '../storage/jobs.repository.js';
import { jobLimits } from '../job.limits.js';

/** How long a run may continue after it was aborted. */
const OVERRUN_MS = 2_000;

/**
 * How a run ended: effect stored, to be retried, interrupted by the service's own database, failed for good, lease lost, replica
 * stopped, postponed.
 */
export type Outcome = 'completed' | 'failed' | 'interrupted' | 'given_up' | 'lost' | 'stopped' | 'put_off';

/** Runs claimed jobs, and retries, postpones or gives up those that fail. */
@Injectable()
export class JobRunner {
  /** Optional, because tests run jobs without the rest of the service. */
  @Optional() @Inject(Tracer) private readonly tracer: Tracer = new Tracer();
  private readonly running = new Set<JobLease>();

  constructor(
    private readonly handlers: JobHandlersService,
    private readonly queue: JobQueueService,
    private readonly jobs: JobsRepository,
    private readonly outcomes: JobOutcomes,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {}

  /** Claims due jobs, after storing the pending outcomes of earlier ones. */
  async claim(lane: JobLane, limit: number): Promise<ClaimedJob[]> {
    await this.storePending();
    const { kinds } = this.handlers;
    return kinds.length === 0
      ? []
      : this.jobs.claim({ lane, kinds, limit }, (kind) => this.handlers.leaseMs(kind));
  }

  /**
   * Runs a claimed job to its end and handles every error of its handler.
   * @returns how the run ended
   * @throws when a job without a handler could not be released; it can be claimed again when its lease ends
   */
  run(job: ClaimedJob): Promise<Outcome> {
    return asJobSpan(this.tracer, job, () => this.runOnce(job));
  }

  private async runOnce(job: ClaimedJob): Promise<Outcome> {
    const handler = this.handlers.find(job.kind);
    if (handler === undefined) {
      await this.jobs.giveBack([job]);
      return 'stopped';
    }
    const lease = new JobLease(job.leaseMs, job.claimedAt);
    this.running.add(lease);
    try {
      const stopTimer = this.metrics.jobDuration.startTimer({ kind: job.kind });
      const outcome = await this.outcomeOf(job, handler, lease);
      stopTimer({ outcome });
      setSpanOutcome(outcome);
      return outcome;
    } finally {
      this.running.delete(lease);
      lease.release();
    }
  }

  /** Aborts all runs, when the replica stops and can no longer wait. */
  abortAll(): void {
    this.running.forEach((lease) => lease.abort(new JobStoppedError()));
  }

  /** Reverts uncertain claims and stores pending outcomes of runs. @throws when the database is still unavailable */
  async storePending(): Promise<void> {
    await this.jobs.revertUncertainClaims();
    await this.outcomes.storePending();
  }

  private async outcomeOf(job: Job, handler: JobHandler, lease: JobLease): Promise<Outcome> {
    try {
      await this.work(job, handler, lease);
      return 'completed';
    } catch (error) {
      return this.afterFailure(job, handler, lease, error).catch((failure: unknown) => {
        this.log.error('the outcome of a job could not be stored', failure, fieldsOf(job));
        return 'failed';
      });
    }
  }

  private async work(job: Job, handler: JobHandler, lease: JobLease): Promise<void> {
    if (handler.giveUp !== undefined && this.outcomes.isUsedUp(job)) {
      throw new JobAttemptsUsedUpError();
    }
    const heartbeat = (): Promise<void> => lease.renew(() => this.jobs.extend(job, lease.leaseMs));
    await lease.oversee(handler.run(job, { signal: lease.signal, heartbeat }), OVERRUN_MS);
    if (!this.queue.isCompleted(job)) {
      throw new JobNotCompletedError();
    }
  }

  private async afterFailure(
    job: Job,
    handler: JobHandler,
    lease: JobLease,
    error: unknown,
  ): Promise<Outcome> {
    if (lease.endedBy instanceof JobStoppedError) {
      await this.takeBack(job);
      return 'stopped';
    }
    // Checked before a lost lease, because a database failure can be the reason why the lease was lost.
    if (this.outcomes.isInterruption(error, lease)) {
      this.log.warn('job interrupted by a failure of the database', {
        ...fieldsOf(job),
        ...errorFields(error),
      });
      await this.outcomes.store({ job, countedAs: 'interruption' }, lease);
      return 'interrupted';
    }
    if (error instanceof LeaseLostError || lease.endedBy instanceof LeaseLostError) {
      this.log.info('lease of a job lost', fieldsOf(job));
      return this.putOffLost(job, lease);
    }
    if (error instanceof JobPutOffError) {
      // Capped, because limits may be raised in the meantime.
      await this.takeBack(job, Math.min(error.waitMs, jobLimits.retryMaxMs));
      return 'put_off';
    }
    return this.failed(job, handler, lease, error);
  }

  private async failed(job: Job, handler: JobHandler, lease: JobLease, error: unknown): Promise<Outcome> {
    const isLast = error instanceof JobGiveUpError || this.outcomes.isLastFailure(job);
    if (isLast && handler.giveUp !== undefined) {
      return this.giveUp(job, handler.giveUp.bind(handler), lease, error);
    }
    this.log.warn('job failed', { ...fieldsOf(job), ...errorFields(error) });
    await this.outcomes.store({ job, countedAs: 'failure' }, lease);
    return 'failed';
  }

  private async takeBack(job: Job, delayMs = 0): Promise<void> {
    try {
      await this.jobs.takeBack(job, delayMs);
    } catch (error) {
      this.outcomes.deferInterruption(job);
      throw error;
    }
  }

  private async putOffLost(job: Job, lease: JobLease): Promise<Outcome> {
    try {
      await this.jobs.putOff(job, retryDelay(job.attempts));
      return 'lost';
    } catch (error) {
      if (!this.outcomes.isInterruption(error, lease)) {
        throw error;
      }
      await this.outcomes.store({ job, countedAs: 'interruption' }, lease);
      return 'interrupted';
    }
  }

  private async giveUp(
    job: Job,
    giveUp: NonNullable<JobHandler['giveUp']>,
    lease: JobLease,
    error: unknown,
  ): Promise<Outcome> {
    this.log.error('job given up', error, fieldsOf(job));
    try {
      await giveUp(job, error);
      if (!this.queue.isCompleted(job)) {
        throw new JobNotCompletedError();
      }
      return 'given_up';
    } catch (failure) {
      if (failure instanceof LeaseLostError) {
        return 'lost';
      }
      this.log.error('job could not be given up', failure, fieldsOf(job));
      await this.outcomes.store({ job, countedAs: 'failure' }, lease);
      return 'failed';
    }
  }
}

function setSpanOutcome(outcome: Outcome): void {
  const span = recordedSpan()?.setAttributes({ 'svc.job.outcome': outcome });
  if (outcome === 'failed' || outcome === 'given_up') {
    span?.fail(outcome);
  }
}

function fieldsOf({ id, kind, attempts }: Job): LogFields {
  return { jobId: id, jobKind: kind, attempts };
}
