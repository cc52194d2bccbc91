import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { requestContext } from '../../common/http/request-context.js';
import { Database } from '../../database/database.js';
import { JobQueueService } from '../jobs/job-queue.service.js';
import type { Job } from '../jobs/job-queue.types.js';
import type { IncidentSource, IncidentType } from './engine/engine.types.js';
import type { FailedStepError } from './step/failed-step.error.js';
import { StepAftermath } from './step/step-aftermath.js';
import { StepResources } from './step/step-resources.js';
import { hasEnded } from './step/step-writer.js';
import type { NewEvent } from './storage/events.repository.js';
import type { IncidentRow } from './storage/incidents.repository.js';
import type { InstanceHead, InstanceRow, ParkedJob } from './storage/instance.row.js';
import { RuntimeRows } from './storage/runtime-rows.js';

/** What went wrong, and where. */
export interface Fault {
  source: IncidentSource;
  type: IncidentType;
  message: string;
  /** Token and visit that it stopped; null when it is about the whole instance. */
  tokenId: number | null;
  visit: number | null;
  node: number | null;
  actionSvcUuid: string | null;
}

/** The fault of a step that the engine stopped. */
export function faultOf({ incident, tokenId, visit }: FailedStepError): Fault {
  const { source, type, message, node, actionSvcUuid } = incident;
  return { source, type, message, tokenId, visit, node, actionSvcUuid };
}

/** Records why processes stopped (process semantics, "Exceptions and audit"). */
@Injectable()
export class IncidentsService {
  constructor(
    private readonly database: Database,
    private readonly rows: RuntimeRows,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
    private readonly aftermath: StepAftermath,
  ) {}

  /**
   * Records a fault after the step was rolled back, unless its token has moved on meanwhile or it is known already.
   * @param origin the job that failed, which ends with this and is kept for a retry; or the user whose request did
   */
  async record(instanceId: number, fault: Fault, origin: { job: Job } | { actor: string }): Promise<void> {
    const id = await this.resources.nextId('process-incident');
    const recorded = await this.database.write(async (manager) => {
      const head = await this.rows.instances.lockHead(manager, { id: instanceId });
      if (head === null || !(await this.concerns(manager, head, fault))) {
        await this.complete(manager, origin);
        return null;
      }
      const incident = this.toIncident(id, fault, origin);
      await this.insert(manager, head, incident, 'actor' in origin ? origin.actor : null);
      await this.complete(manager, origin);
      return { head, incident };
    });
    if (recorded !== null) {
      this.aftermath.stopped(recorded.head, recorded.incident);
    }
  }

  /**
   * Stores an instance that could not start: CREATED, without tokens, with the incident that tells why.
   * @param begin called first in the transaction
   * @returns what it returned
   */
  async recordFailedStart<Answer>(
    row: InstanceRow,
    fault: Fault,
    begin: (manager: EntityManager) => Promise<Answer>,
  ): Promise<Answer> {
    const incident = this.toIncident(await this.resources.nextId('process-incident'), fault, { actor: '' });
    const { raisedAt: at, requestId } = incident;
    const actor = row.startedBy?.userName ?? null;
    const answer = await this.database.write(async (manager) => {
      const answer = await begin(manager);
      await this.rows.instances.insert(manager, { ...row, seq: 1, openIncidents: 1 });
      await this.rows.incidents.insert(manager, row, incident);
      await this.rows.events.insert(manager, row, [raised(incident, 1)], { actor, requestId, at });
      return answer;
    });
    this.aftermath.stopped(row, incident);
    return answer;
  }

  private async insert(
    manager: EntityManager,
    head: InstanceHead,
    incident: IncidentRow,
    actor: string | null,
  ): Promise<void> {
    const { raisedAt: at, requestId } = incident;
    const seq = head.seq + 1;
    await this.rows.instances.updateTrail(manager, head, {
      seq,
      openIncidents: head.openIncidents + 1,
      modifiedAt: at,
    });
    await this.rows.incidents.insert(manager, head, incident);
    await this.rows.events.insert(manager, head, [raised(incident, seq)], { actor, requestId, at });
  }

  private async concerns(manager: EntityManager, head: InstanceHead, fault: Fault): Promise<boolean> {
    if (fault.tokenId !== null) {
      const [token] = await this.rows.tokens.byIds(manager, [fault.tokenId]);
      if (hasEnded(head.state) || token?.state.visit !== fault.visit) {
        return false;
      }
    }
    const open = head.openIncidents === 0 ? [] : await this.rows.incidents.open(manager, head.id);
    return !open.some((incident) => isSame(incident, fault));
  }

  private async complete(manager: EntityManager, origin: { job: Job } | { actor: string }): Promise<void> {
    if ('job' in origin) {
      await this.queue.complete(manager, origin.job);
    }
  }

  private toIncident(id: number, fault: Fault, origin: { job: Job } | { actor: string }): IncidentRow {
    return {
      ...fault,
      id,
      uuid: uuid(),
      state: 'OPEN',
      job: 'job' in origin ? toParkedJob(origin.job) : null,
      requestId: requestContext()?.requestId ?? null,
      raisedAt: this.resources.now(),
      closedAt: null,
    };
  }
}

function raised(incident: IncidentRow, seq: number): NewEvent {
  const { uuid: id, tokenId, node, source, type } = incident;
  return { seq, kind: 'INCIDENT_RAISED', tokenId, node, data: { incident: id, source, type } };
}

function isSame(incident: IncidentRow, fault: Fault): boolean {
  const members = ['source', 'type', 'message', 'tokenId', 'visit', 'node', 'actionSvcUuid'] as const;
  return members.every((member) => incident[member] === fault[member]);
}

function toParkedJob({ kind, instanceId, tokenId, payload }: Job): ParkedJob {
  return { kind, instanceId, tokenId, payload };
}
