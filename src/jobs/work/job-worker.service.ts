import { within } from '../../platform/concurrency/deadline.js';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Log } from '../../platform/observability/logging/log.js';
import { Env } from '../../platform/config/env.js';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../platform/concurrency/retry.js';
import { pollDelay } from './job-delay.js';
import { JOB_LANES, type ClaimedJob, type JobLane } from '../model/job-queue.types.js';
import { JobRunner } from './job-runner.js';
import { JobSignal } from '../queue/job-signal.js';
import { JobsRepository } from '../storage/jobs.repository.js';
import { jobLimits } from '../job.limits.js';

const OUTAGE = { baseMs: 100, maxMs: 5_000 };

/** Workers of one lane. They run one job after the other and share the jobs that one of them claimed. */
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
    // Every worker adds a listener while the database is unavailable. That is no leak.
    setMaxListeners(0, this.stopping.signal);
  }

  start(): void {
    this.loops = Promise.all(Array.from({ length: this.concurrency }, () => this.loop()));
  }

  /** Stops starting jobs and releases those that were claimed. Does not wait for running ones. */
  async beginStop(): Promise<void> {
    this.stopping.abort();
    this.signal.wake();
    await this.turn;
    await this.jobs.giveBack(this.claimed.splice(0)).catch((error: unknown) => {
      // They can be claimed again when their leases end.
      this.log.error('claimed jobs could not be released', error);
    });
  }

  /** Waits until all running jobs have ended. */
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

  // Serialized, so that a replica queries the database once and not once for each idle worker.
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

  /** Waits for a job; undefined when the workers stop. */
  private async next(): Promise<ClaimedJob | undefined> {
    const { lane } = this;
    const batch = lane === 'short' ? jobLimits.batch : 1;
    for (let idle = 0; !this.stopping.signal.aborted; idle += 1) {
      const job = this.claimed.shift();
      if (job !== undefined) {
        return job;
      }
      const { seen } = this.signal;
      // Claims only as many jobs as can start immediately, since a claim counts as an attempt.
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
    const delay = backoff(this.failures, OUTAGE);
    await sleep(delay, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  private recovered(): void {
    if (this.failures > 0) {
      this.failures = 0;
      this.log.info('background jobs continue');
    }
  }
}

/** How long a stop waits for aborted runs; a little longer than `OVERRUN_MS`. */
const ABORTED_MS = 3_000;

/** Starts the workers of this replica after bootstrap and stops them at shutdown. */
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
   * Stops starting jobs, releases claimed ones, and waits `stopGraceMs` for running ones before it aborts them. Other replicas can
   * claim jobs that do not end when their leases end.
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
        this.log.warn('stopped before all background jobs ended');
      }
    }
    await this.runner.storePending().catch(() => {
      this.log.warn('stopped before the outcomes of background jobs were stored');
    });
  }

  private workersOf(lane: JobLane): JobLaneWorkers {
    const concurrency = lane === 'short' ? this.env.get('JOBS_CONCURRENCY') : jobLimits.longConcurrency;
    return new JobLaneWorkers(lane, concurrency, this.runner, this.jobs, this.signal, this.log);
  }
}

/** Returns whether the work settles within the limit. */
function settles(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const done = work.then(() => true);
  return within(limitMs, done, () => false);
}
