import { hash } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { Database } from '../../store/database.js';
import { shardOfHash, ShardGroups } from '../../store/shards.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { encodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { JobPutOffError } from '../../jobs/queue/jobs.errors.js';
import { QuotaExceededError } from '../quotas/model/quotas.errors.js';
import { Log } from '../../platform/observability/logging/log.js';
import { RepeatsService } from '../../idempotency/repeats.service.js';
import { TimerOutbox } from '../storage/timer-outbox.repository.js';
import { StepResources } from '../steps/step-resources.js';

/** A scheduled job that belongs to no instance. */
export type ScheduledJob = Extract<
  RuntimeJob,
  { kind: 'TIMER_START' | 'PROCESS_CLEANUP' | 'WITHDRAWN_BUILD' }
>;

const AT_ONCE = 100;

/**
 * Recurring jobs: the transaction that completes one adds the next. On a sharded database the first job waits in an outbox, in the
 * transaction of its cause (an activation or withdrawal), and moves to its shard after the commit. After a crash in between, a starting
 * replica or the next cleanup moves it.
 */
@Injectable()
export class ScheduledJobs implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly queue: JobQueueService,
    private readonly repeats: RepeatsService,
    private readonly groups: ShardGroups,
    private readonly resources: StepResources,
    private readonly log: Log,
  ) {}

  onApplicationBootstrap(): Promise<void> {
    return this.tryToMoveFromOutbox();
  }

  now(): Date {
    return this.resources.now();
  }

  /** Reserves the id of the next job. Not inside a transaction. */
  async reserve(next: ScheduledJob | null): Promise<number> {
    return next === null ? 0 : this.resources.nextId('job');
  }

  /**
   * Adds the next job unless it exists.
   * @param shard of the previous job; by default that of the series
   */
  async add(executor: SqlExecutor, id: number, next: ScheduledJob | null, shard?: number): Promise<void> {
    if (next !== null) {
      const { kind, at } = next;
      const series = seriesOf(next);
      const dedupeKey = next.kind === 'TIMER_START' ? `${series}:${next.occurrence}` : series;
      const place = { shard: shard ?? seriesShard(next) };
      await this.queue.add(executor, [
        { id, kind, availableAt: new Date(at), payload: encodeJob(next), dedupeKey, ...place },
      ]);
    }
  }

  /** Adds the first job of a series, or leaves it to `moveFromOutbox`. */
  async addFirst(executor: SqlExecutor, id: number, first: ScheduledJob | null): Promise<void> {
    if (!this.groups.areApart) {
      await this.add(executor, id, first);
    } else if (first !== null) {
      await TimerOutbox.insert(executor, { id, work: first });
    }
  }

  /** Runs `moveFromOutbox`. The next cleanup repeats it after a failure. */
  async tryToMoveFromOutbox(): Promise<void> {
    try {
      await this.moveFromOutbox();
    } catch (error) {
      this.log.error('timers were not set', error);
    }
  }

  /** Moves jobs from the outbox to their shards. A note makes this idempotent. */
  async moveFromOutbox(): Promise<void> {
    if (!this.groups.areApart) {
      return;
    }
    for (;;) {
      const rows = await this.database.read((manager) => TimerOutbox.first(manager, AT_ONCE));
      for (const { id, work } of rows) {
        await this.moveOne(id, work as unknown as ScheduledJob);
      }
      if (rows.length < AT_ONCE) {
        return;
      }
    }
  }

  /** Completes a job and adds the next one, in a transaction of its own. */
  async replace(job: Job, next: ScheduledJob | null): Promise<void> {
    const id = await this.reserve(next);
    await this.database.write((manager) => this.replaceIn(manager, job, id, next));
  }

  async replaceIn(executor: SqlExecutor, job: Job, id: number, next: ScheduledJob | null): Promise<void> {
    await this.queue.complete(executor, job);
    await this.add(executor, id, next, job.shard);
  }

  private async moveOne(id: number, work: ScheduledJob): Promise<void> {
    await this.database.writeAside(async (manager) => {
      if (await this.repeats.note(manager, `timer:${id}`, seriesShard(work), this.now())) {
        await this.add(manager, id, work);
      }
    });
    await this.database.writeAside((manager) => TimerOutbox.delete(manager, id));
  }
}

/** Returns the key of the series of a job. A series stays in one shard. */
function seriesOf(job: ScheduledJob): string {
  switch (job.kind) {
    case 'PROCESS_CLEANUP':
      return 'process-cleanup';
    case 'WITHDRAWN_BUILD':
      return `withdrawn-build:${job.buildId}:${job.running}`;
    case 'TIMER_START':
      return `timer-start:${job.definitionId}:${job.node}:${job.anchor}`;
  }
}

function seriesShard(job: ScheduledJob): number {
  return shardOfHash(hash('sha256', seriesOf(job)));
}

const SECOND_MS = 1_000;

/** Maps an exceeded quota to an error that postpones the job, and returns other errors unchanged. */
export function postponedIfQuotaExceeded(error: unknown): unknown {
  return error instanceof QuotaExceededError
    ? new JobPutOffError(error.retryAfterSeconds * SECOND_MS, { cause: error })
    : error;
}
