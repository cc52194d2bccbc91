import { Inject, Injectable, Optional } from '@nestjs/common';
import { errorFields } from '../../platform/observability/logging/error-fields.js';
import { Log, type LogFields } from '../../platform/observability/logging/log.js';
import { Metrics } from '../../platform/observability/metrics/metrics.js';
import { recordedSpan } from '../../platform/observability/tracing/spans.js';
import { Tracer } from '../../platform/observability/tracing/tracer.js';
import type { JobLane, ClaimedJob, Job, JobHandler } from '../model/job-queue.types.js';
import { asJobSpan } from '../model/job-trace.js';
import { JobEnds } from './job-ends.service.js';
import { JobHandlersService } from '../queue/job-handlers.service.js';
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

/** How long a run may go on after it was told to end. */
const OVERRUN_MS = 2_000;

/**
 * How a run ended: effect stored, to be tried again, our own database failed, failed for good, held by somebody else, replica
 * stopped, must wait.
 */
export type Outcome = 'completed' | 'failed' | 'interrupted' | 'given_up' | 'lost' | 'stopped' | 'put_off';

/** Runs claimed jobs and decides what becomes of those that fail. */
@Injectable()
export class JobRunner {
  /** None where the jobs run without the rest of the service. */
  @Optional() @Inject(Tracer) private readonly tracer: Tracer = new Tracer();
  private readonly running = new Set<JobLease>();

  constructor(
    private readonly handlers: JobHandlersService,
    private readonly queue: JobQueueService,
    private readonly jobs: JobsRepository,
    private readonly ends: JobEnds,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {}

  /** Takes due jobs, when it is stored what became of earlier ones. */
  async claim(lane: JobLane, limit: number): Promise<ClaimedJob[]> {
    await this.payOwed();
    const { kinds } = this.handlers;
    return kinds.length === 0
      ? []
      : this.jobs.claim({ lane, kinds, limit }, (kind) => this.handlers.leaseMs(kind));
  }

  /**
   * Runs a job that was begun, and stays with it until its run is over, whatever its handler throws.
   * @returns how it ended
   * @throws when it could not be stored that the job was given back; it comes up again when its lease ends
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
      tellOutcome(outcome);
      return outcome;
    } finally {
      this.running.delete(lease);
      lease.release();
    }
  }

  /** Ends every run: the replica stops and cannot wait any longer. */
  abortAll(): void {
    this.running.forEach((lease) => lease.abort(new JobStoppedError()));
  }

  /** Stores what is owed about earlier runs. @throws when it still cannot be stored */
  async payOwed(): Promise<void> {
    await this.jobs.undoUnsure();
    await this.ends.payOwed();
  }

  private async outcomeOf(job: Job, handler: JobHandler, lease: JobLease): Promise<Outcome> {
    try {
      await this.work(job, handler, lease);
      return 'completed';
    } catch (error) {
      return this.afterFailure(job, handler, lease, error).catch((failure: unknown) => {
        this.log.error('what became of a job could not be stored', failure, fieldsOf(job));
        return 'failed';
      });
    }
  }

  private async work(job: Job, handler: JobHandler, lease: JobLease): Promise<void> {
    if (handler.giveUp !== undefined && this.ends.isUsedUp(job)) {
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
    // Asked first: such a failure may also be why the lease could not be kept.
    if (this.ends.isInterruption(error, lease)) {
      this.log.warn('job interrupted by a failure of the database', {
        ...fieldsOf(job),
        ...errorFields(error),
      });
      await this.ends.store({ job, countedAs: 'interruption' }, lease);
      return 'interrupted';
    }
    if (error instanceof LeaseLostError || lease.endedBy instanceof LeaseLostError) {
      this.log.info('lease of a job lost', fieldsOf(job));
      return this.putOffLost(job, lease);
    }
    if (error instanceof JobPutOffError) {
      // It looks again now and then: limits may be raised.
      await this.takeBack(job, Math.min(error.waitMs, jobLimits.retryMaxMs));
      return 'put_off';
    }
    return this.failed(job, handler, lease, error);
  }

  private async failed(job: Job, handler: JobHandler, lease: JobLease, error: unknown): Promise<Outcome> {
    const isLast = error instanceof JobGiveUpError || this.ends.isLastFailure(job);
    if (isLast && handler.giveUp !== undefined) {
      return this.giveUp(job, handler.giveUp.bind(handler), lease, error);
    }
    this.log.warn('job failed', { ...fieldsOf(job), ...errorFields(error) });
    await this.ends.store({ job, countedAs: 'failure' }, lease);
    return 'failed';
  }

  private async takeBack(job: Job, delayMs = 0): Promise<void> {
    try {
      await this.jobs.takeBack(job, delayMs);
    } catch (error) {
      this.ends.oweInterruption(job);
      throw error;
    }
  }

  private async putOffLost(job: Job, lease: JobLease): Promise<Outcome> {
    try {
      await this.jobs.putOff(job, this.ends.delayAfter(job.attempts));
      return 'lost';
    } catch (error) {
      if (!this.ends.isInterruption(error, lease)) {
        throw error;
      }
      await this.ends.store({ job, countedAs: 'interruption' }, lease);
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
      await this.ends.store({ job, countedAs: 'failure' }, lease);
      return 'failed';
    }
  }
}

/** Of the span of the job. */
function tellOutcome(outcome: Outcome): void {
  const span = recordedSpan()?.setAttributes({ 'svc.job.outcome': outcome });
  if (outcome === 'failed' || outcome === 'given_up') {
    span?.fail(outcome);
  }
}

function fieldsOf({ id, kind, attempts }: Job): LogFields {
  return { jobId: id, jobKind: kind, attempts };
}
