import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../../../database/database.js';
import { IdBlocks } from '../../../database/id-blocks.js';
import { shardOfHash } from '../../../database/shards.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { encodeJob, type RuntimeJob } from '../steps/runtime-job.js';

/** A job with a time of its own that no instance owns. */
export type ScheduledJob = Extract<
  RuntimeJob,
  { kind: 'TIMER_START' | 'PROCESS_CLEANUP' | 'WITHDRAWN_BUILD' }
>;

/** Jobs that come again and again: each names the next one in the transaction that ends it. */
@Injectable()
export class ScheduledJobs {
  constructor(
    private readonly database: Database,
    private readonly queue: JobQueueService,
    private readonly ids: IdBlocks,
  ) {}

  /** An id for the next one, not inside of a transaction. */
  async reserve(next: ScheduledJob | null): Promise<number> {
    return next === null ? 0 : this.ids.next('job');
  }

  /**
   * Adds the next one, unless it is there already.
   * @param shard that of the job before; of the first one it follows from what comes again and again
   */
  async add(manager: EntityManager, id: number, next: ScheduledJob | null, shard?: number): Promise<void> {
    if (next !== null) {
      const { kind, at } = next;
      const series = seriesOf(next);
      const dedupeKey = next.kind === 'TIMER_START' ? `${series}:${next.occurrence}` : series;
      const place = { shard: shard ?? seriesShard(next) };
      await this.queue.add(manager, [
        { id, kind, availableAt: new Date(at), payload: encodeJob(next), dedupeKey, ...place },
      ]);
    }
  }

  /** Ends a job, and adds the next one, in a transaction of its own. */
  async replace(job: Job, next: ScheduledJob | null): Promise<void> {
    const id = await this.reserve(next);
    await this.database.write((manager) => this.replaceIn(manager, job, id, next));
  }

  /** Ends a job, and adds the next one. */
  async replaceIn(manager: EntityManager, job: Job, id: number, next: ScheduledJob | null): Promise<void> {
    await this.queue.complete(manager, job);
    await this.add(manager, id, next, job.shard);
  }
}

/** What comes again and again, all of it in one shard. */
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

/** Where the first one is. */
export function seriesShard(job: ScheduledJob): number {
  return shardOfHash(hash('sha256', seriesOf(job)));
}
