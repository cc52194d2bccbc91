import type { OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../../../common/clock.js';
import type { Env } from '../../../config/env.js';
import type { JobBroker, QueuedJob } from './job-broker.js';

/** More are left to the sweep, so that an outage of Redis costs no memory. */
const MOST_WAITING = 10_000;
const MOST_AT_ONCE = 500;

/** Hands jobs to Redis once their transaction was committed. When it cannot, it lets the sweep hand over all of them again. */
export class JobRelay implements OnApplicationShutdown {
  private waiting: QueuedJob[] = [];
  private isBusy = false;
  /** While jobs are stored that Redis was not told of. */
  private telling: NodeJS.Timeout | undefined;

  /**
   * @param broker undefined without REDIS_URL
   * @param wake lets workers look into the table
   */
  constructor(
    readonly broker: JobBroker | undefined,
    private readonly env: Env,
    private readonly clock: Clock,
    private readonly wake: () => void,
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
      if (near.length > 0) {
        this.missed();
      }
      return;
    }
    this.waiting.push(...near);
    if (!this.isBusy) {
      this.isBusy = true;
      void this.send(this.broker);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.telling);
    await this.broker?.close();
  }

  private async send(broker: JobBroker): Promise<void> {
    while (this.waiting.length > 0) {
      await broker.handOver(this.waiting.splice(0, MOST_AT_ONCE)).catch(() => {
        this.waiting = [];
        this.missed();
        this.wake();
      });
    }
    this.isBusy = false;
  }

  // Here and not in the sweep, which replicas without workers do not have.
  private missed(): void {
    this.telling ??= setInterval(() => void this.tellMissed(), this.env.get('JOBS_SWEEP_MS')).unref();
  }

  private async tellMissed(): Promise<void> {
    if (this.broker !== undefined && this.isLeading) {
      clearInterval(this.telling);
      this.telling = undefined;
      await this.broker.setBack().catch(() => this.missed());
    }
  }
}
