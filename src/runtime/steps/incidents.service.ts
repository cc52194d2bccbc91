import { Injectable } from '@nestjs/common';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { afterCommit } from '../../store/groups/write-progress.js';
import { requestContext } from '../../platform/observability/logging/request-context.js';
import { Database } from '../../store/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import {
  type RunnableDefinition,
  RunnableDefinitionsService,
} from '../definitions/runnable-definitions.service.js';
import { encodeJob, runKeyOf } from './runtime-job.js';
import { type FailedStepError, toStopReport } from './step-failures.js';
import { WorkflowRunsService } from '../calls/workflows/runs/workflow-runs.service.js';
import type { StopReport } from '../model/stopped.response.dto.js';
import { StepNotices } from './step-notices.js';
import { StepResources } from './step-resources.js';
import {
  faultOf,
  insertStopped,
  raiseIncident,
  type FaultOrigin,
  newIncident,
  type Fault,
} from './incident-records.js';
import type { IncidentRow } from '../storage/incidents.repository.js';
import type { ParkedJob, InstanceRow } from '../storage/process-instance.entity.js';
import { Instances } from '../storage/instances.repository.js';

/** Records why processes stopped (docs/process-semantics.md, section 11). */
@Injectable()
export class IncidentsService {
  constructor(
    private readonly database: Database,
    private readonly definitions: RunnableDefinitionsService,
    private readonly workflows: WorkflowRunsService,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
    private readonly notices: StepNotices,
  ) {}

  /**
   * Records a fault after the rollback of its step, unless the stopped token has moved on or ended meanwhile. Work that fails again updates
   * its open incident.
   * @returns uuid of the incident; null when none is stored
   * @throws TooManyIncidentsError when the instance has the maximum number of incidents: the job stays and is retried
   */
  async record(instanceId: number, fault: Fault, origin: FaultOrigin): Promise<string | null> {
    const id = await this.resources.nextId('process-incident');
    const failed = 'job' in origin ? origin.job : undefined;
    // Before the transaction begins.
    const definition = fault.element === undefined ? await this.definitionOf(instanceId) : undefined;
    const workflowRunId =
      failed?.kind === 'WORKFLOW' ? await this.workflows.idOf(runKeyOf(failed), failed.shard) : null;
    const recorded = await this.database.write(async (manager) => {
      const head = await Instances.lockHead(manager, { id: instanceId });
      const job = failed === undefined ? null : toParkedJob(failed);
      const raised = { ...this.toIncident(id, fault, job), definition, workflowRunId };
      const incident = head && (await raiseIncident(manager, head, raised, origin));
      if (failed !== undefined) {
        await this.queue.complete(manager, failed);
      }
      return head === null || incident === null ? null : { head, incident };
    });
    if (recorded !== null) {
      this.notices.reportIncident(recorded.head, recorded.incident);
    }
    return recorded?.incident.uuid ?? null;
  }

  /** Records the incident of a step that the engine stopped. @returns the report for the caller */
  async recordStop(error: FailedStepError, origin: FaultOrigin): Promise<StopReport> {
    const { incident, before } = error;
    const { row, definition } = before;
    const uuid = await this.record(row.id, faultOf(incident, definition, error), origin);
    return toStopReport(incident, row.uuid, definition, uuid);
  }

  /** The incident of an instance that could not start. Its retry starts the instance. Not inside of a transaction. */
  async ofFailedStart(row: InstanceRow, startNode: number, fault: Fault): Promise<IncidentRow> {
    const payload = encodeJob({ kind: 'START', node: startNode });
    const job = { kind: 'START', instanceId: row.id, tokenId: null, payload };
    return this.toIncident(await this.resources.nextId('process-incident'), fault, job);
  }

  /** Stores an instance that could not start, and completes the job that started it. */
  async writeFailedStart(
    executor: SqlExecutor,
    row: InstanceRow,
    incident: IncidentRow,
    { definition, job }: { definition: RunnableDefinition; job?: Job },
  ): Promise<void> {
    if (job !== undefined) {
      await this.queue.complete(executor, job);
    }
    await insertStopped(executor, row, { ...incident, definition }, row.startedBy?.userName ?? null);
    afterCommit(executor, () => this.notices.reportIncident(row, incident));
  }

  /** Returns the definition of an instance; undefined when it cannot be loaded, which may be the fault itself. */
  private async definitionOf(id: number): Promise<RunnableDefinition | undefined> {
    const head = await this.database.read((manager) => Instances.findHead(manager, { id }));
    return head === null ? undefined : this.definitions.ifUsable(head.definitionId);
  }

  private toIncident(id: number, fault: Fault, job: ParkedJob | null): IncidentRow {
    return newIncident(id, fault, job, this.resources.now(), requestContext()?.requestId ?? null);
  }
}

/** Keeps the key of the run, so that a retry continues it. */
function toParkedJob(job: Job): ParkedJob {
  const { kind, instanceId, tokenId, payload } = job;
  return { kind, instanceId, tokenId, payload: { ...payload, runKey: runKeyOf(job) } };
}
