import { within } from '../../platform/concurrency/deadline.js';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Log } from '../../platform/observability/logging/log.js';
import { Env } from '../../platform/config/env.js';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { pollDelay, retryDelay } from './job-delay.js';
import { JOB_LANES, type ClaimedJob, type JobLane } from '../model/job-queue.types.js';
import { JobRunner } from './job-runner.js';
import { JobSignal } from '../queue/job-signal.js';
import { JobsRepository } from '../storage/jobs.repository.js';
import { jobLimits } from '../job.limits.js';

const OUTAGE = { baseMs: 100, maxMs: 5_000 };

/** The workers of one lane of jobs: each takes a job, runs it, takes the next. They share what one of them claimed. */
class JobLaneWorkers {
  private readonly stopping = new AbortController();
  private claimed: ClaimedJob[] = [];
  private idle = 0;
  private turn: Promise<unknown> = Promise.resolve();
  private failures = 0;
  private loops: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly lane: JobLane,
    private readonly concurrency: number,
    private readonly runner: JobRunner,
    private readonly jobs: JobsRepository,
    private readonly signal: JobSignal,
    private readonly log: Log,
  ) {
    // Every worker listens while the database is away; that is no leak.
    setMaxListeners(0, this.stopping.signal);
  }

  start(): void {
    this.loops = Promise.all(Array.from({ length: this.concurrency }, () => this.loop()));
  }

  /** Begins no job any more, and lets go of those that were claimed already. Does not wait for running ones. */
  async beginStop(): Promise<void> {
    this.stopping.abort();
    this.signal.wake();
    await this.turn;
    await this.jobs.giveBack(this.claimed.splice(0)).catch((error: unknown) => {
      // They come up again when their leases end.
      this.log.error('claimed jobs could not be given back', error);
    });
  }

  /** Waits until no job runs any more. */
  async ended(): Promise<void> {
    await this.loops;
  }

  private async loop(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        const job = await this.take();
        if (job !== undefined) {
          await this.runner.run(job);
        }
        this.recovered();
      } catch (error) {
        await this.pause(error);
      }
    }
  }

  // One after the other, so that a replica asks the database once and not once for each idle worker.
  private take(): Promise<ClaimedJob | undefined> {
    this.idle += 1;
    const next = this.turn
      .then(() => this.next())
      .finally(() => {
        this.idle -= 1;
      });
    this.turn = next.catch(() => undefined);
    return next;
  }

  /** Waits for a job; undefined when the lane of jobs stops. */
  private async next(): Promise<ClaimedJob | undefined> {
    const { lane } = this;
    const batch = lane === 'short' ? jobLimits.batch : 1;
    for (let idle = 0; !this.stopping.signal.aborted; idle += 1) {
      const job = this.claimed.shift();
      if (job !== undefined) {
        return job;
      }
      const { seen } = this.signal;
      // No more than begin at once, since a claim counts as an attempt.
      this.claimed = await this.runner.claim(lane, Math.min(this.idle, batch));
      if (this.claimed.length === 0) {
        const nextMs = Math.max(1, this.jobs.nextDueMs(lane));
        await this.signal.wait(seen, Math.min(pollDelay(idle, jobLimits.pollMs), nextMs));
      }
    }
    return undefined;
  }

  private async pause(cause: unknown): Promise<void> {
    if (this.failures === 0) {
      this.log.error('background jobs wait for the database', cause);
    }
    this.failures += 1;
    const delay = retryDelay(this.failures, OUTAGE);
    await sleep(delay, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  private recovered(): void {
    if (this.failures > 0) {
      this.failures = 0;
      this.log.info('background jobs go on');
    }
  }
}

/** How long a stop waits for runs that were told to end; a little longer than one that does not listen goes on. */
const ABORTED_MS = 3_000;

/** The workers of this replica, from the end of its start to the beginning of its stop. */
@Injectable()
export class JobWorkerService implements OnApplicationBootstrap, OnModuleDestroy {
  private lanes: JobLaneWorkers[] = [];
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly env: Env,
    private readonly log: Log,
    private readonly jobs: JobsRepository,
    private readonly runner: JobRunner,
    private readonly signal: JobSignal,
  ) {}

  onApplicationBootstrap(): void {
    if (this.env.get('JOBS_CONCURRENCY') > 0) {
      this.lanes = JOB_LANES.map((lane) => this.workersOf(lane));
      this.lanes.forEach((workers) => workers.start());
    }
  }

  /**
   * Begins no job any more, gives back those not begun, waits `stopGraceMs` for the running ones and then tells
   * them to end. One that does not comes up again elsewhere when its lease ends.
   */
  stop(): Promise<void> {
    return (this.stopped ??= this.end());
  }

  onModuleDestroy(): Promise<void> {
    return this.stop();
  }

  private async end(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.beginStop()));
    const ended = Promise.all(this.lanes.map((workers) => workers.ended()));
    if (!(await settles(ended, jobLimits.stopGraceMs))) {
      this.runner.abortAll();
      if (!(await settles(ended, ABORTED_MS))) {
        this.log.warn('stopped before every background job had ended');
      }
    }
    await this.runner.payOwed().catch(() => {
      this.log.warn('stopped before it was stored what became of background jobs');
    });
  }

  private workersOf(lane: JobLane): JobLaneWorkers {
    const concurrency = lane === 'short' ? this.env.get('JOBS_CONCURRENCY') : jobLimits.longConcurrency;
    return new JobLaneWorkers(lane, concurrency, this.runner, this.jobs, this.signal, this.log);
  }
}

/** Whether the work is done within the time. */
function settles(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const done = work.then(() => true);
  return within(limitMs, done, () => false);
}
