import type { OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../../../common/clock.js';
import type { Env } from '../../../config/env.js';
import type { JobBroker, QueuedJob } from './job-broker.js';

/** More are left to the sweep, so that an outage of Redis costs no memory. */
const MOST_WAITING = 10_000;
const MOST_AT_ONCE = 500;

/** Hands jobs to Redis once their transaction was committed. What it cannot hand over the sweep finds. */
export class JobRelay implements OnApplicationShutdown {
  /** Whether jobs were stored that Redis was not told of, since this was last set to false. */
  hasMissed = false;
  private waiting: QueuedJob[] = [];
  private isBusy = false;

  /** @param broker undefined without REDIS_URL */
  constructor(
    readonly broker: JobBroker | undefined,
    private readonly env: Env,
    private readonly clock: Clock,
  ) {}

  /** Whether jobs come by Redis at present, so that nobody needs to look for them in the table. */
  get isLeading(): boolean {
    return this.broker?.isReady ?? false;
  }

  /** @param jobs which are stored */
  handOver(jobs: readonly QueuedJob[]): void {
    if (this.broker === undefined) {
      return;
    }
    // Twice as far as the sweep, so that none lies between what both take.
    const end = this.clock.now().getTime() + 2 * this.env.get('JOBS_AHEAD_MS');
    const near = jobs.filter(({ dueAt }) => dueAt <= end);
    if (!this.isLeading || this.waiting.length + near.length > MOST_WAITING) {
      this.hasMissed ||= near.length > 0;
      return;
    }
    this.waiting.push(...near);
    if (!this.isBusy) {
      this.isBusy = true;
      void this.send(this.broker);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.broker?.close();
  }

  private async send(broker: JobBroker): Promise<void> {
    while (this.waiting.length > 0) {
      if (!(await broker.handOver(this.waiting.splice(0, MOST_AT_ONCE)))) {
        this.waiting = [];
        this.hasMissed = true;
      }
    }
    this.isBusy = false;
  }
}
