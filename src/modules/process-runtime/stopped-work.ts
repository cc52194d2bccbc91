import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { JobQueueService } from '../jobs/job-queue.service.js';
import type { NewJob } from '../jobs/job-queue.types.js';
import { WorkflowRunsService } from '../workflows/workflow-runs.service.js';
import { stoppedRunOf } from './jobs/runtime-job.js';
import type { ParkedJob } from './storage/instance.row.js';

/** Puts background work that an incident stopped back into the queue. */
@Injectable()
export class StoppedWork {
  constructor(
    private readonly queue: JobQueueService,
    private readonly workflows: WorkflowRunsService,
  ) {}

  /** Whether it is a workflow that, begun anew with the data of now, would make calls again that may not be made twice. */
  async mustGoOn(manager: EntityManager, job: ParkedJob): Promise<boolean> {
    const runKey = stoppedRunOf(job);
    return runKey !== null && this.workflows.mustGoOn(manager, runKey);
  }

  /**
   * Queues the same work once more, in the caller's transaction. Who retries decides with it that calls whose outcome nobody knows
   * are made once more.
   */
  async putBack(manager: EntityManager, stopped: ParkedJob, job: NewJob & { id: number }): Promise<void> {
    const runKey = stoppedRunOf(stopped);
    if (runKey !== null) {
      await this.workflows.release(manager, runKey);
    }
    await this.queue.add(manager, [job]);
  }

  /** Lets workers look for work at once; after the transaction. */
  wake(): void {
    this.queue.wake();
  }
}
