import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../../../database/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { NewJob } from '../../jobs/model/job-queue.types.js';
import { WorkflowRunsService } from '../../workflows/runs/workflow-runs.service.js';
import { decodeJob, stoppedRunOf } from '../steps/runtime-job.js';
import { ProcessInstanceNotFoundError, ProcessTokenNotFoundError } from '../model/process-runtime.errors.js';
import { IncidentsRepository, type IncidentRow } from '../storage/incidents.repository.js';
import type { ParkedJob } from '../storage/instance-content.types.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { TokensRepository } from '../storage/tokens.repository.js';

/** What is retried: a token where it stands, or, without one, what is about the whole instance. */
export interface RetryTarget {
  uuid: string;
  tokenUuid: string | null;
}

/** Finds background work that incidents stopped, and puts it back into the queue. */
@Injectable()
export class StoppedWork {
  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly tokens: TokensRepository,
    private readonly incidents: IncidentsRepository,
    private readonly queue: JobQueueService,
    private readonly workflows: WorkflowRunsService,
  ) {}

  /**
   * The open incidents of a token on its present visit, or of the instance as a whole.
   * @throws ProcessInstanceNotFoundError, ProcessTokenNotFoundError
   */
  async openOf(target: RetryTarget): Promise<IncidentRow[]> {
    return this.database.read((manager) => this.findOpen(manager, target));
  }

  /**
   * The build of an instance.
   * @throws ProcessInstanceNotFoundError
   */
  async buildOf({ uuid }: RetryTarget): Promise<string> {
    const head = await this.database.read((manager) => this.instances.findHead(manager, { uuid }));
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
    return head.buildId;
  }

  /** Whether an incident of an instance is still open. */
  async isOpen(manager: EntityManager, instanceId: number, incident: IncidentRow): Promise<boolean> {
    return (await this.incidents.stillOpen(manager, instanceId, [incident])).length > 0;
  }

  /** Which of the calls of an activity the work is about; null when it is about none. */
  async callOf(
    manager: EntityManager,
    { kind, instanceId, payload }: ParkedJob,
  ): Promise<{ node: number; index: number } | null> {
    if (kind === 'CALL') {
      const { node, index } = decodeJob<'CALL'>(payload);
      return { node, index };
    }
    const child =
      kind === 'NOTIFY_PARENT' && instanceId !== null
        ? await this.instances.findHead(manager, { id: instanceId })
        : null;
    // The token still waits where it called, so that only the index counts.
    return child === null || child.parentIndex === null ? null : { node: 0, index: child.parentIndex };
  }

  /** Whether it is a workflow that, begun anew with the data of now, would make calls again that may not be made twice. */
  async mustGoOn(manager: EntityManager, shard: number, job: ParkedJob): Promise<boolean> {
    const runKey = stoppedRunOf(job);
    return runKey !== null && this.workflows.mustGoOn(manager, runKey, shard);
  }

  /**
   * Queues the same work once more, in the caller's transaction. Who retries decides with it that calls whose outcome nobody knows
   * are made once more.
   */
  async putBack(
    manager: EntityManager,
    stopped: ParkedJob,
    job: NewJob & { id: number; shard: number },
  ): Promise<void> {
    const runKey = stoppedRunOf(stopped);
    if (runKey !== null) {
      await this.workflows.release(manager, runKey, job.shard);
    }
    await this.queue.add(manager, [job]);
  }

  /** Lets workers look for work at once; after the transaction. */
  wake(): void {
    this.queue.wake();
  }

  private async findOpen(manager: EntityManager, { uuid, tokenUuid }: RetryTarget): Promise<IncidentRow[]> {
    const head = await this.instances.findHead(manager, { uuid });
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
    if (tokenUuid === null) {
      return this.incidents.openAt(manager, head.id, null);
    }
    const token = await this.tokens.find(manager, head.id, tokenUuid);
    if (token === null) {
      throw new ProcessTokenNotFoundError();
    }
    return this.incidents.openAt(manager, head.id, { tokenId: token.id, visit: token.visit });
  }
}
