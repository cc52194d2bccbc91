import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { requestContext } from '../../../common/logging/request-context.js';
import { Database } from '../../../database/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import type { IncidentSource, IncidentType } from '../engine/state/engine.types.js';
import { encodeJob, outlives, runKeyOf, workKeyOf } from './runtime-job.js';
import { TooManyIncidentsError } from '../model/process-runtime.errors.js';
import type { FailedStepError } from './failed-step.error.js';
import { StepAftermath } from './step-aftermath.js';
import { StepResources } from './step-resources.js';
import { hasEnded } from './step-writer.js';
import type { NewEvent } from '../storage/events.repository.js';
import type { IncidentHead, IncidentRow, IncidentState } from '../storage/incidents.repository.js';
import type { InstanceHead, InstanceRow, ParkedJob } from '../storage/instance.row.js';
import { RuntimeRows } from '../storage/runtime-rows.js';

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

/**
 * Who met a fault: the job that failed, which ends with this and is kept for a retry; the user whose request did; or the operator
 * whose retry of an incident did.
 */
export type FaultOrigin = { job: Job } | { actor: string } | { actor: string; retried: IncidentRow };

/** How incidents are closed. */
export interface IncidentClosing {
  state: IncidentState;
  /** User name; null for the background. */
  actor: string | null;
  /** Events that come before those of the incidents. */
  events?: Omit<NewEvent, 'seq'>[] | undefined;
}

/** The fault of a step that the engine stopped. */
export function faultOf({ incident, tokenId, visit }: FailedStepError): Fault {
  const { source, type, message, node, actionSvcUuid } = incident;
  return { source, type, message, tokenId, visit, node, actionSvcUuid };
}

/** Records why processes stopped (docs/process-semantics.md, section 11). */
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
   * Records a fault after the step was rolled back, unless what it stopped has gone on or ended meanwhile. The same work that
   * fails once more renews its incident.
   * @returns uuid of the incident; null when none is kept
   * @throws TooManyIncidentsError when the instance has as many as it may: the job stays and comes again
   */
  async record(instanceId: number, fault: Fault, origin: FaultOrigin): Promise<string | null> {
    const id = await this.resources.nextId('process-incident');
    const recorded = await this.database.write(async (manager) => {
      const head = await this.rows.instances.lockHead(manager, { id: instanceId });
      const job = 'job' in origin ? toParkedJob(origin.job) : null;
      const incident =
        head === null ? null : await this.keep(manager, head, this.toIncident(id, fault, job), origin);
      if ('job' in origin) {
        await this.queue.complete(manager, origin.job);
      }
      return head === null || incident === null ? null : { head, incident };
    });
    if (recorded !== null) {
      this.aftermath.stopped(recorded.head, recorded.incident);
    }
    return recorded?.incident.uuid ?? null;
  }

  /**
   * Stores an instance that could not start: CREATED, without tokens, with the incident that tells why and can be retried.
   * @param startNode index of the start event
   * @param begin called first in the transaction
   * @returns what it returned
   */
  async recordFailedStart<Answer>(
    row: InstanceRow,
    startNode: number,
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
    const { raisedAt: at, requestId } = incident;
    const actor = row.startedBy?.userName ?? null;
    const answer = await this.database.write(async (manager) => {
      const answer = await begin(manager, incident.uuid);
      await this.rows.instances.insert(manager, { ...row, seq: 1, openIncidents: 1 });
      await this.rows.incidents.insert(manager, row, incident);
      await this.rows.events.insert(manager, row, [raised(incident, 1)], { actor, requestId, at });
      return answer;
    });
    this.aftermath.stopped(row, incident);
    return answer;
  }

  /** Closes those of the incidents that are still open. The caller's transaction has locked the instance. */
  async close(
    manager: EntityManager,
    instanceId: number,
    incidents: readonly IncidentHead[],
    { state, actor, events: before = [] }: IncidentClosing,
  ): Promise<void> {
    const head = await this.rows.instances.findHead(manager, { id: instanceId });
    const open = head === null ? [] : await this.rows.incidents.stillOpen(manager, incidents);
    if (head === null || open.length === 0) {
      return;
    }
    const at = this.resources.now();
    const closing = open.map(({ uuid, tokenId, node }) => ({
      kind: 'INCIDENT_CLOSED' as const,
      tokenId,
      node,
      data: { incident: uuid, state },
    }));
    const events = [...before, ...closing].map((event, index) => ({ ...event, seq: head.seq + index + 1 }));
    await this.rows.instances.updateTrail(manager, head, {
      seq: head.seq + events.length,
      openIncidents: head.openIncidents - open.length,
      modifiedAt: at,
    });
    const ids = open.map(({ id }) => id);
    await this.rows.incidents.close(manager, ids, state, at);
    const requestId = requestContext()?.requestId ?? null;
    await this.rows.events.insert(manager, head, events, { actor, requestId, at });
  }

  /** @returns the incident as it is stored; null when there is nothing to tell */
  private async keep(
    manager: EntityManager,
    head: InstanceHead,
    incident: IncidentRow,
    origin: FaultOrigin,
  ): Promise<IncidentRow | null> {
    if (!(await this.concerns(manager, head, incident))) {
      return null;
    }
    const { workKey } = 'retried' in origin ? origin.retried : incident;
    const { incidents } = this.rows;
    const same = head.openIncidents === 0 ? null : await incidents.openOf(manager, head.id, workKey);
    if (same !== null) {
      await incidents.refresh(manager, same.id, incident);
      return { ...incident, uuid: same.uuid };
    }
    const { maxIncidents } = this.resources;
    const isFull = head.openIncidents >= maxIncidents;
    if (isFull && 'job' in origin) {
      throw new TooManyIncidentsError(maxIncidents);
    }
    // What another operator retried first is no longer this one's; a caller was told, and can try again.
    if (isFull || 'retried' in origin) {
      return null;
    }
    await this.insert(manager, head, incident, 'actor' in origin ? origin.actor : null);
    return incident;
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

  /** Whether anything still waits for what failed. */
  private async concerns(
    manager: EntityManager,
    { state }: InstanceHead,
    { job, tokenId, visit }: IncidentRow,
  ): Promise<boolean> {
    if (hasEnded(state)) {
      return job !== null && outlives(job, state);
    }
    const [token] = tokenId === null ? [] : await this.rows.tokens.byIds(manager, [tokenId]);
    return tokenId === null || token?.state.visit === visit;
  }

  private toIncident(id: number, fault: Fault, job: ParkedJob | null): IncidentRow {
    return {
      ...fault,
      id,
      uuid: uuid(),
      state: 'OPEN',
      job,
      workKey: workKeyOf(job, fault),
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

/** With the key of its run, so that a retry goes on with what was begun. */
function toParkedJob(job: Job): ParkedJob {
  const { kind, instanceId, tokenId, payload } = job;
  return { kind, instanceId, tokenId, payload: { ...payload, runKey: runKeyOf(job) } };
}
