import { within } from '../../../common/deadline.js';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Log } from '../../../common/logging/log.js';
import { Env } from '../../../config/env.js';
import { JobLaneWorkers } from './job-lane-workers.js';
import { JOB_LANES, type JobLane } from '../model/job-queue.types.js';
import { JobRunner } from './job-runner.js';
import { JobSignal } from '../queue/job-signal.js';
import { JobsRepository } from '../storage/jobs.repository.js';
import { jobLimits } from '../job.limits.js';

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
    const isShort = lane === 'short';
    const concurrency = isShort ? this.env.get('JOBS_CONCURRENCY') : jobLimits.longConcurrency;
    const options = { lane, concurrency, batch: isShort ? jobLimits.batch : 1 };
    return new JobLaneWorkers(options, this.runner, this.jobs, this.signal, this.log);
  }
}

/** Whether the work is done within the time. */
function settles(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const done = work.then(() => true);
  return within(limitMs, done, () => false);
}
