import type { Job as BrokerJob, Queue, Worker } from 'bullmq';
import { EnvError, type Env } from '../../../config/env.js';
import { codeOf } from '../../../config/start.error.js';
import type { Log } from '../../../common/logging/log.js';
import { RedisAnswers } from '../../../common/redis/redis-answers.js';
import type { RedisClient, RedisConnections } from '../../../common/redis/redis-connections.js';
import { JOB_LANES, type JobLane } from '../model/job-lane.js';

const SECOND_MS = 1_000;
/** Stalled jobs go on for ever: the row decides when a job has crashed too often. */
const MAX_STALLED = 1_000_000;
const KEEP_NONE = { count: 0 } as const;

type Driver = typeof import('bullmq');

/** Names a stored job, see `NewJob`. */
interface QueuedPlace {
  id: number;
  shard: number;
}

/** A stored job as Redis knows it: which row to look at, and when. Nothing of the job's data is there. */
export interface QueuedJob extends QueuedPlace {
  kind: string;
  lane: JobLane;
  /** Milliseconds of the epoch. */
  dueAt: number;
  /** From 1; jobs with a higher number wait for those with a lower one, and all for those without. */
  priority?: number;
}

/**
 * Looks at a job whose time has come.
 * @returns milliseconds after which to look again; undefined when nothing is left to be done
 */
export type Look = (job: QueuedPlace & { kind: string }) => Promise<number | undefined>;

/**
 * BullMQ: tells workers of all replicas when to look at which row of `runtime_jobs`, one queue for each lane of jobs. The row alone decides
 * whether there is anything to do. So a job that Redis forgets is found by the sweep, and one that it tells twice is done once.
 */
export class JobBroker {
  private readonly queues: Readonly<Record<JobLane, Queue>>;
  private readonly prefix: string;
  private readonly answers: RedisAnswers;

  private constructor(
    private readonly env: Env,
    private readonly log: Log,
    private readonly driver: Driver,
    private readonly client: RedisClient,
  ) {
    this.answers = new RedisAnswers(client, env.get('REDIS_TIMEOUT_MS'));
    // Braces: all keys of the queues are in one slot of a cluster.
    this.prefix = `{${env.get('REDIS_KEY_PREFIX')}-jobs}`;
    this.queues = { short: this.queue('short'), long: this.queue('long') };
  }

  /**
   * @returns undefined without REDIS_URL
   * @throws EnvError when the driver is not installed
   */
  static async load(
    env: Env,
    log: Log,
    connections: RedisConnections | undefined,
  ): Promise<JobBroker | undefined> {
    const client = connections?.open('waiting');
    if (client === undefined) {
      return undefined;
    }
    const driver = await import('bullmq').catch(() => {
      throw new EnvError(['REDIS_URL needs the npm package bullmq, which is not installed']);
    });
    return new JobBroker(env, log, driver, client);
  }

  /** Whether Redis answers, as far as the connection knows. */
  get isReady(): boolean {
    return this.answers.isReady;
  }

  /**
   * Tells Redis about stored jobs. Those it knows already stay as they are.
   * @returns false when Redis did not take all of them in time
   */
  async handOver(jobs: readonly QueuedJob[]): Promise<boolean> {
    const added = Promise.all(
      JOB_LANES.map(async (lane) => {
        const ofLane = jobs.filter((job) => job.lane === lane);
        if (ofLane.length > 0) {
          await this.queues[lane].addBulk(ofLane.map(toBrokerJob));
        }
      }),
    ).then(() => true);
    return this.inTime(added, false);
  }

  /**
   * Up to which time all stored jobs were handed over; undefined when Redis does not know, because it was emptied.
   * @returns milliseconds of the epoch
   * @throws when Redis does not answer
   */
  async horizon(): Promise<number | undefined> {
    const text = await this.answers.inTime(this.client.get(this.key('horizon')));
    return text === null ? undefined : Number(text);
  }

  /** @throws when Redis does not answer */
  async setHorizon(at: number): Promise<void> {
    await this.answers.inTime(this.client.set(this.key('horizon'), String(at)));
  }

  /**
   * Whether this replica has the turn to sweep; nobody else has it for so long.
   * @throws when Redis does not answer
   */
  async takesTurn(ms: number): Promise<boolean> {
    return (await this.answers.inTime(this.client.set(this.key('sweep'), '1', 'PX', ms, 'NX'))) === 'OK';
  }

  /** Begins to look at jobs of a lane; `close` of the worker ends that. */
  work(lane: JobLane, look: Look): Worker {
    const isShort = lane === 'short';
    const rate = this.env.get(isShort ? 'JOBS_RATE_PER_SECOND' : 'JOBS_LONG_RATE_PER_SECOND');
    const worker = new this.driver.Worker(lane, (job, token) => this.process(job, token, look), {
      connection: this.connection(),
      prefix: this.prefix,
      concurrency: this.env.get(isShort ? 'JOBS_CONCURRENCY' : 'JOBS_LONG_CONCURRENCY'),
      // The job of a dead replica comes back as soon as its row does.
      lockDuration: this.env.get('JOBS_LEASE_MS'),
      stalledInterval: this.env.get('JOBS_LEASE_MS'),
      maxStalledCount: MAX_STALLED,
      removeOnComplete: KEEP_NONE,
      removeOnFail: KEEP_NONE,
      ...(rate === 0 ? {} : { limiter: { max: rate, duration: SECOND_MS } }),
    });
    worker.on('error', (error) => {
      // That Redis is away is told once, where connections are opened.
      if (this.isReady) {
        this.log.warn('worker of redis failed', { lane, errorCode: codeOf(error) });
      }
    });
    return worker;
  }

  /** Does not wait for Redis. */
  async close(): Promise<void> {
    const closed = Promise.all(Object.values(this.queues).map((queue) => queue.close()));
    await this.inTime(closed, undefined);
  }

  private async process(job: BrokerJob, token: string | undefined, look: Look): Promise<void> {
    const againMs = await look({ ...placeOf(job), kind: job.name });
    if (againMs !== undefined) {
      await job.moveToDelayed(Date.now() + againMs, token);
      throw new this.driver.DelayedError();
    }
  }

  private queue(lane: JobLane): Queue {
    const queue = new this.driver.Queue(lane, {
      connection: this.connection(),
      prefix: this.prefix,
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    });
    queue.on('error', () => undefined);
    return queue;
  }

  /** BullMQ describes clients loosely. */
  private connection(): object {
    return this.client;
  }

  private key(name: string): string {
    return `${this.prefix}:${name}`;
  }

  private inTime<T>(work: Promise<T>, late: T): Promise<T> {
    return this.answers.inTime(work).catch(() => late);
  }
}

function toBrokerJob({
  id,
  shard,
  kind,
  dueAt,
  priority,
}: QueuedJob): Parameters<Queue['addBulk']>[0][number] {
  const delay = Math.max(0, dueAt - Date.now());
  const options = { jobId: `j${id}`, delay, ...(priority === undefined ? {} : { priority }) };
  return { name: kind, data: { shard }, opts: options };
}

/** A replica of an earlier release says no shard: where there are several, the sweep finds the row. */
function placeOf({ id = '', data }: BrokerJob<{ shard?: number }>): QueuedPlace {
  return { id: Number(id.slice(1)), shard: data.shard ?? 0 };
}
