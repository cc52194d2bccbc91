import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ShardGroups } from '../../store/shards.js';
import { BuildsService } from '../../delivery/builds/making/builds.service.js';
import { QuotasService } from '../quotas/accounts/quotas.service.js';
import { Families } from '../storage/families.repository.js';
import { Messages } from '../storage/messages.repository.js';
import { RepeatsService } from '../../idempotency/repeats.service.js';
import { processLimits } from '../process.limits.js';
import { Database } from '../../store/database.js';
import type { Job, JobContext, JobHandler } from '../../jobs/model/job-queue.types.js';
import { ScheduledJobs, type ScheduledJob } from './scheduled-jobs.js';

type Removal = (manager: EntityManager, limit: number) => Promise<number>;

const SECOND_MS = 1_000;

/** Periodically removes expired rows, on one replica. The job is never given up. */
@Injectable()
export class CleanupHandler implements JobHandler, OnApplicationBootstrap {
  readonly kind = 'PROCESS_CLEANUP';

  constructor(
    private readonly database: Database,
    private readonly repeats: RepeatsService,
    private readonly builds: BuildsService,
    private readonly quotas: QuotasService,
    private readonly groups: ShardGroups,
    private readonly jobs: ScheduledJobs,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const first = this.next(this.jobs.now());
    const id = await this.jobs.reserve(first);
    await this.database.write((manager) => this.jobs.add(manager, id, first));
  }

  async run(job: Job, { signal }: JobContext): Promise<void> {
    const now = this.jobs.now();
    for (const removal of this.removals(now)) {
      await this.removeAll(signal, removal);
    }
    await this.jobs.moveFromOutbox();
    await this.jobs.replace(job, this.next(now));
  }

  private removals(now: Date): Removal[] {
    const oldest = this.repeats.oldest(now);
    const ofGroups = this.groups
      .rotated()
      .flatMap((shards): Removal[] => [
        (manager, limit) => this.repeats.removeBefore(manager, shards, oldest, limit),
        (manager, limit) => Messages.removeExpired(manager, shards, now, limit),
        (manager, limit) => Families.removeEmpty(manager, shards, limit),
      ]);
    return [
      ...ofGroups,
      (manager, limit) => this.builds.removeRepeatsBefore(manager, oldest, limit),
      (manager, limit) => this.quotas.removeEnded(manager, now, limit),
    ];
  }

  /** Deletes in small transactions, so that none holds many rows for long. */
  private async removeAll(signal: AbortSignal, remove: Removal): Promise<void> {
    const limit = processLimits.cleanupRows;
    for (let removed = limit; removed === limit && !signal.aborted;) {
      removed = await this.database.write((manager) => remove(manager, limit));
    }
  }

  private next(now: Date): ScheduledJob {
    return { kind: 'PROCESS_CLEANUP', at: now.getTime() + processLimits.cleanupSeconds * SECOND_MS };
  }
}
