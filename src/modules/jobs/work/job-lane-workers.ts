import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../common/logging/log.js';
import { pollDelay, retryDelay } from './job-delay.js';
import type { ClaimedJob } from '../model/job-queue.types.js';
import type { JobSignal } from '../queue/job-signal.js';

const OUTAGE = { baseMs: 100, maxMs: 5_000 };

/** What the workers of a lane of jobs need. */
export interface LaneOptions {
  /** How many jobs run at the same time. */
  concurrency: number;
  /** `pollMs` */
  pollMs: number;
  /** Takes the next due jobs for so many idle workers, none when there are none. */
  claim: (workers: number) => Promise<ClaimedJob[]>;
  /** Milliseconds from the last claim until the next job is due, if that is known. */
  nextDueMs: () => number;
  run: (job: ClaimedJob) => Promise<unknown>;
  /** Lets go of jobs that were claimed and not run. */
  giveBack: (jobs: ClaimedJob[]) => Promise<void>;
  signal: JobSignal;
  log: Log;
}

/** The workers of one lane of jobs: each takes a job, runs it, takes the next. They share what one of them claimed. */
export class JobLaneWorkers {
  private readonly stopping = new AbortController();
  private claimed: ClaimedJob[] = [];
  private idle = 0;
  private turn: Promise<unknown> = Promise.resolve();
  private failures = 0;
  private loops: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: LaneOptions) {
    // Every worker listens while the database is away; that is no leak.
    setMaxListeners(0, this.stopping.signal);
  }

  start(): void {
    this.loops = Promise.all(Array.from({ length: this.options.concurrency }, () => this.loop()));
  }

  /** Begins no job any more, and lets go of those that were claimed already. Does not wait for running ones. */
  async beginStop(): Promise<void> {
    this.stopping.abort();
    this.options.signal.wake();
    await this.turn;
    await this.options.giveBack(this.claimed.splice(0)).catch((error: unknown) => {
      // They come up again when their leases end.
      this.options.log.error('claimed jobs could not be given back', error);
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
          await this.options.run(job);
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
    const { signal, pollMs, claim, nextDueMs } = this.options;
    for (let idle = 0; !this.stopping.signal.aborted; idle += 1) {
      const job = this.claimed.shift();
      if (job !== undefined) {
        return job;
      }
      const { seen } = signal;
      // No more than begin at once, since a claim counts as an attempt.
      this.claimed = await claim(this.idle);
      if (this.claimed.length === 0) {
        await signal.wait(seen, Math.min(pollDelay(idle, pollMs), Math.max(1, nextDueMs())));
      }
    }
    return undefined;
  }

  private async pause(cause: unknown): Promise<void> {
    if (this.failures === 0) {
      this.options.log.error('background jobs wait for the database', cause);
    }
    this.failures += 1;
    const delay = retryDelay(this.failures, OUTAGE);
    await sleep(delay, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  private recovered(): void {
    if (this.failures > 0) {
      this.failures = 0;
      this.options.log.info('background jobs go on');
    }
  }
}
