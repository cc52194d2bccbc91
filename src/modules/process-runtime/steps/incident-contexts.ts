import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { WorkflowRunsService } from '../../workflows/runs/workflow-runs.service.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { runKeyOf } from './runtime-job.js';

/** What is told of an incident beside its fault. */
export interface IncidentContext {
  /** Finds the element; undefined where the fault tells it, there is no such instance, or the definition cannot be loaded. */
  definition: RunnableDefinition | undefined;
  /** The run that failed; null when it was none. */
  workflowRunId: string | null;
}

/** Finds what belongs to incidents, before their transactions begin. */
@Injectable()
export class IncidentContexts {
  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly definitions: RunnableDefinitionsService,
    private readonly workflows: WorkflowRunsService,
  ) {}

  /**
   * @param isPlaced whether the element of the fault is known
   * @param job that failed; undefined for a request
   */
  async find(instanceId: number, isPlaced: boolean, job: Job | undefined): Promise<IncidentContext> {
    const definition = isPlaced ? undefined : await this.definitionOf(instanceId);
    const isRun = job?.kind === 'WORKFLOW';
    return {
      definition,
      workflowRunId: isRun ? await this.workflows.idOf(runKeyOf(job), job.shard) : null,
    };
  }

  private async definitionOf(instanceId: number): Promise<RunnableDefinition | undefined> {
    const head = await this.database.read((manager) => this.instances.findHead(manager, { id: instanceId }));
    return head === null ? undefined : this.definitions.ifUsable(head.definitionId);
  }
}
