import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../../common/clock.js';
import { Database } from '../../../database/database.js';
import { IdBlocks } from '../../../database/id-blocks.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';

/** Kind of the job that is a round of refreshes, and the key that keeps it single. */
export const TOOL_REFRESH_JOB = 'TOOL_REFRESH';

const MINUTE_MS = 60_000;

/** The job of the next round, a minute from now. Not inside of a transaction. */
@Injectable()
export class ToolRefreshJobs {
  constructor(
    private readonly queue: JobQueueService,
    private readonly ids: IdBlocks,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Adds the first one, unless there is one. */
  async add(): Promise<void> {
    const id = await this.ids.next('job');
    await this.database.write((manager) => this.addTo(manager, id));
  }

  /** Ends a round, and adds the next one. */
  async replace(job: Job): Promise<void> {
    const id = await this.ids.next('job');
    await this.database.write(async (manager) => {
      await this.queue.complete(manager, job);
      await this.addTo(manager, id);
    });
  }

  /** Ends a round, and adds none. */
  async end(job: Job): Promise<void> {
    await this.database.write((manager) => this.queue.complete(manager, job));
  }

  private async addTo(manager: EntityManager, id: number): Promise<void> {
    const availableAt = new Date(this.clock.now().getTime() + MINUTE_MS);
    const kind = TOOL_REFRESH_JOB;
    await this.queue.add(manager, [{ id, kind, availableAt, payload: {}, dedupeKey: kind }]);
  }
}
