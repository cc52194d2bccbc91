import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Worker } from 'bullmq';
import { Log } from '../../../common/logging/log.js';
import { within } from '../../../common/within.js';
import type { ToldJob } from '../broker/job-broker.js';
import { JobRelay } from '../broker/job-relay.js';
import { JOB_LANES } from '../model/job-lane.js';
import { JobHandlersService } from '../queue/job-handlers.service.js';
import type { JobPlace } from '../storage/job-claim.js';
import { JobsRepository } from '../storage/jobs.repository.js';
import { restDelay, retryDelay } from './job-delay.js';
import { JobSweep } from './job-sweep.js';
import { JobRunner } from './job-runner.js';

const OUTAGE = { baseMs: 100, maxMs: 5_000 };
/** How long a job rests that the database kept from being looked at, milliseconds. */
const REST_MS = 1_000;
/** Clocks of replicas differ from that of the database. */
const LEAST_WAIT_MS = 10;
const CLOSE_MS = 2_000;

/** The workers of this replica that Redis tells which rows to look at, and its part in the sweep. There are none without REDIS_URL. */
@Injectable()
export class BrokerWorkers {
  private readonly stopping = new AbortController();
  private workers: Worker[] = [];
  private closed: Promise<unknown> = Promise.resolve();
  private readonly looks = new Set<Promise<unknown>>();
  private failures = 0;

  constructor(
    private readonly relay: JobRelay,
    private readonly sweep: JobSweep,
    private readonly handlers: JobHandlersService,
    private readonly jobs: JobsRepository,
    private readonly runner: JobRunner,
    private readonly log: Log,
  ) {}

  /** Whether jobs come by Redis at present. */
  get isLeading(): boolean {
    return this.relay.isLeading;
  }

  start(): void {
    const { broker } = this.relay;
    if (broker !== undefined) {
      this.workers = JOB_LANES.map((lane) => broker.work(lane, (job) => this.underWay(this.look(job))));
      this.sweep.start();
    }
  }

  /** Begins no job any more. Does not wait for running ones. */
  beginStop(): void {
    this.stopping.abort();
    this.closed = Promise.all([...this.workers.map((worker) => worker.close()), this.sweep.stop()]);
    this.closed.catch(() => undefined);
  }

  /** Waits until no job runs any more, and the sweep has ended. */
  async ended(): Promise<void> {
    // Workers of a Redis that is away do not close before it is back.
    const ended = this.isLeading ? [this.closed] : [...this.looks, this.sweep.stop()];
    await Promise.allSettled(ended);
  }

  /** Leaves Redis, whether it answers or not. */
  async leave(): Promise<void> {
    const left = Promise.all(this.workers.map((worker) => worker.close(true))).catch(() => undefined);
    await within(CLOSE_MS, left, () => undefined);
  }

  private underWay<T>(look: Promise<T>): Promise<T> {
    const ended = look.finally(() => this.looks.delete(ended));
    this.looks.add(ended);
    return ended;
  }

  private async look({ looks, ...place }: ToldJob): Promise<number | undefined> {
    const { handlers, log } = this;
    if (handlers.find(place.kind) === undefined) {
      // Left to a replica of the release that knows the kind; after a while to its sweep.
      return restDelay(looks);
    }
    try {
      const againMs = await this.runOne(place, handlers.leaseMs(place.kind));
      if (this.failures > 0) {
        this.failures = 0;
        log.info('background jobs go on');
      }
      return againMs;
    } catch (error) {
      if (this.failures === 0) {
        log.error('background jobs wait for the database', error);
      }
      this.failures += 1;
      // Holds the worker, so that the queue is not run through in vain.
      const { signal } = this.stopping;
      await sleep(retryDelay(this.failures, OUTAGE), undefined, { signal }).catch(() => undefined);
      return REST_MS;
    }
  }

  private async runOne(place: JobPlace, leaseMs: number): Promise<number | undefined> {
    const { jobs, runner } = this;
    await runner.payOwed();
    const job = await jobs.take(place, leaseMs);
    const outcome = job && (await runner.run(job));
    if (outcome === 'completed' || outcome === 'given_up') {
      return undefined;
    }
    const waitMs = await jobs.waitMs(place);
    return waitMs === undefined ? undefined : Math.max(LEAST_WAIT_MS, Math.ceil(waitMs));
  }
}
