import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { requestContext } from '../../../common/logging/request-context.js';
import { orderedUuid } from '../../../common/ordered-uuid.js';
import { Database } from '../../../database/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { elementOf, type RunnableDefinition } from '../definitions/runnable-definition.js';
import type { IncidentSource, IncidentType } from '../engine/state/engine.types.js';
import { encodeJob, runKeyOf, workKeyOf } from './runtime-job.js';
import type { FailedStepError } from './failed-step.error.js';
import { StepNotices } from './step-notices.js';
import { StepResources } from './step-resources.js';
import { IncidentRecords, type FaultOrigin } from './incident-records.js';
import type { IncidentRow } from '../storage/incidents.repository.js';
import type { ParkedJob } from '../storage/instance-content.types.js';
import type { InstanceRow } from '../storage/instance.row.js';
import { InstancesRepository } from '../storage/instances.repository.js';

/** What went wrong, and where. */
export interface Fault {
  source: IncidentSource;
  type: IncidentType;
  message: string;
  /** Token and visit that it stopped; null when it is about the whole instance. */
  tokenId: number | null;
  visit: number | null;
  node: number | null;
  /** Id of the element in the BPMN file, where whoever tells the fault knows it. */
  element?: string | null | undefined;
  actionSvcUuid: string | null;
}

/** The fault of a step that the engine stopped. */
export function faultOf({ incident, tokenId, visit, definition }: FailedStepError): Fault {
  const { source, type, message, node, actionSvcUuid } = incident;
  const element = elementOf(definition, node);
  return { source, type, message, tokenId, visit, node, element, actionSvcUuid };
}

/** Records why processes stopped (docs/process-semantics.md, section 11). */
@Injectable()
export class IncidentsService {
  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly records: IncidentRecords,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
    private readonly notices: StepNotices,
  ) {}

  /**
   * Records a fault after the step was rolled back, unless what it stopped has gone on or ended meanwhile. The same work that
   * fails once more renews its incident.
   * @returns uuid of the incident; null when none is kept
   * @throws TooManyIncidentsError when the instance has as many as it may: the job stays and comes again
   */
  async record(instanceId: number, fault: Fault, origin: FaultOrigin): Promise<string | null> {
    const id = await this.resources.nextId('process-incident');
    const failed = 'job' in origin ? origin.job : undefined;
    const isPlaced = fault.element !== undefined;
    const context = await this.records.contexts.find(instanceId, isPlaced, failed);
    const recorded = await this.database.write(async (manager) => {
      const head = await this.instances.lockHead(manager, { id: instanceId });
      const job = 'job' in origin ? toParkedJob(origin.job) : null;
      const incident =
        head === null
          ? null
          : await this.records.raise(
              manager,
              head,
              { ...this.toIncident(id, fault, job), ...context },
              origin,
            );
      if ('job' in origin) {
        await this.queue.complete(manager, origin.job);
      }
      return head === null || incident === null ? null : { head, incident };
    });
    if (recorded !== null) {
      this.notices.stopped(recorded.head, recorded.incident);
    }
    return recorded?.incident.uuid ?? null;
  }

  /**
   * Stores an instance that could not start: CREATED, without tokens, with the incident that tells why and can be retried.
   * @param start its definition, and the index of the start event
   * @param begin called first in the transaction
   * @returns what it returned
   */
  async recordFailedStart<Answer>(
    row: InstanceRow,
    { definition, startNode }: { definition: RunnableDefinition; startNode: number },
    fault: Fault,
    begin: (manager: EntityManager, incidentUuid: string) => Promise<Answer>,
  ): Promise<Answer> {
    const job = {
      kind: 'START',
      instanceId: row.id,
      tokenId: null,
      payload: encodeJob({ kind: 'START', node: startNode }),
    };
    const incident = this.toIncident(await this.resources.nextId('process-incident'), fault, job);
    const answer = await this.database.write(async (manager) => {
      const answer = await begin(manager, incident.uuid);
      await this.records.insertStopped(
        manager,
        row,
        { ...incident, definition },
        row.startedBy?.userName ?? null,
      );
      return answer;
    });
    this.notices.stopped(row, incident);
    return answer;
  }

  private toIncident(id: number, fault: Fault, job: ParkedJob | null): IncidentRow {
    const raisedAt = this.resources.now();
    return {
      ...fault,
      id,
      uuid: orderedUuid(raisedAt),
      state: 'OPEN',
      job,
      workKey: workKeyOf(job, fault),
      requestId: requestContext()?.requestId ?? null,
      element: fault.element ?? null,
      workflowRunId: null,
      raisedAt,
      closedAt: null,
    };
  }
}

/** With the key of its run, so that a retry goes on with what was begun. */
function toParkedJob(job: Job): ParkedJob {
  const { kind, instanceId, tokenId, payload } = job;
  return { kind, instanceId, tokenId, payload: { ...payload, runKey: runKeyOf(job) } };
}
