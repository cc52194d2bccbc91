import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { IncidentRecords } from '../steps/incident-records.js';
import { decodeJob } from '../steps/runtime-job.js';
import { IncidentsRepository } from '../storage/incidents.repository.js';
import type { ParentLink } from '../storage/instance.row.js';
import { InstancesRepository } from '../storage/instances.repository.js';

/** Which call of an instance it is. */
export type Call = Pick<ParentLink, 'tokenId' | 'visit' | 'seq' | 'waits'>;

/** Calls of other processes that have not begun. */
@Injectable()
export class PendingCalls {
  constructor(
    private readonly instances: InstancesRepository,
    private readonly queue: JobQueueService,
    private readonly incidents: IncidentsRepository,
    private readonly records: IncidentRecords,
  ) {}

  /**
   * Withdraws calls of an instance: their jobs, and the incidents of those that failed. One that is beginning holds its job, so that
   * its child is there afterwards.
   */
  async withdraw(manager: EntityManager, parentId: number, isMeant: (call: Call) => boolean): Promise<void> {
    const head = await this.instances.lockHead(manager, { id: parentId });
    const calls = await this.queue.ofInstance(manager, parentId, 'CALL');
    const ids = calls.filter(({ payload }) => isMeant(decodeJob<'CALL'>(payload))).map(({ id }) => id);
    await this.queue.cancel(manager, parentId, ids);
    if (head !== null && head.openIncidents > 0) {
      const open = await this.incidents.openAt(manager, parentId, null);
      const failed = open.filter(
        ({ job }) => job?.kind === 'CALL' && isMeant(decodeJob<'CALL'>(job.payload)),
      );
      await this.records.close(manager, parentId, failed, { state: 'RESOLVED', actor: null });
    }
  }
}
