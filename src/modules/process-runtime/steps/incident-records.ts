import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { requestContext } from '../../../common/logging/request-context.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { TooManyIncidentsError } from '../model/process-runtime.errors.js';
import { EventsRepository, type NewEvent } from '../storage/events.repository.js';
import { IncidentsRepository, type IncidentHead, type IncidentRow } from '../storage/incidents.repository.js';
import type { InstanceHead, InstanceRow } from '../storage/instance.row.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import type { IncidentState } from '../model/incident-inbox.types.js';
import { storeSearchValues } from '../storage/search-values.js';
import type { TokenRow } from '../storage/token.row.js';
import { TokensRepository } from '../storage/tokens.repository.js';
import { IncidentContexts } from './incident-contexts.js';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import { elementOf, type RunnableDefinition } from '../definitions/runnable-definition.js';
import { hasEnded } from './instance-status.js';
import { outlives } from './runtime-job.js';
import { StepResources } from './step-resources.js';

/**
 * Who met a fault: the job that failed, which ends with this and is kept for a retry; the user whose request did; or the operator
 * whose retry of an incident did.
 */
export type FaultOrigin = { job: Job } | { actor: string } | { actor: string; retried: IncidentRow };

/** An incident to raise; with the definition of its instance, which finds the element, where the incident does not tell it. */
export type RaisedIncident = IncidentRow & { definition?: RunnableDefinition | undefined };

/** How incidents are closed. */
export interface IncidentClosing {
  state: IncidentState;
  /** User name; null for the background. */
  actor: string | null;
  /** Events that come before those of the incidents. */
  events?: Omit<NewEvent, 'seq'>[] | undefined;
}

/**
 * Incidents together with what changes with them: their count in the instance, and their events in its audit trail. All of it is
 * a part of the caller's transaction, which has locked the instance.
 */
@Injectable()
export class IncidentRecords {
  constructor(
    private readonly instances: InstancesRepository,
    private readonly tokens: TokensRepository,
    private readonly incidents: IncidentsRepository,
    private readonly events: EventsRepository,
    private readonly resources: StepResources,
    readonly contexts: IncidentContexts,
  ) {}

  /** Closes those of the incidents that are still open. */
  async close(
    manager: EntityManager,
    instanceId: number,
    incidents: readonly IncidentHead[],
    { state, actor, events: before = [] }: IncidentClosing,
  ): Promise<void> {
    const head = await this.instances.findHead(manager, { id: instanceId });
    const open = head === null ? [] : await this.incidents.stillOpen(manager, instanceId, incidents);
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
    await this.instances.updateTrail(manager, head, {
      seq: head.seq + events.length,
      openIncidents: head.openIncidents - open.length,
      modifiedAt: at,
    });
    const ids = open.map(({ id }) => id);
    await this.incidents.close(manager, instanceId, ids, state, at);
    const requestId = requestContext()?.requestId ?? null;
    await this.events.insert(manager, head, events, { actor, requestId, at });
  }

  /**
   * Raises an incident, unless what it stopped has gone on or ended. The same work that fails once more renews its incident.
   * @returns the incident as it is stored; null when there is nothing to tell
   * @throws TooManyIncidentsError when the instance has as many as it may, and a job has failed
   */
  async raise(
    manager: EntityManager,
    head: InstanceHead,
    raised: RaisedIncident,
    origin: FaultOrigin,
  ): Promise<IncidentRow | null> {
    const incident = await this.placed(manager, head, raised);
    if (incident === null) {
      return null;
    }
    const { workKey } = 'retried' in origin ? origin.retried : incident;
    const same = head.openIncidents === 0 ? null : await this.incidents.openOf(manager, head.id, workKey);
    if (same !== null) {
      await this.incidents.refresh(manager, head.id, same.id, incident);
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

  /** Stores an instance that could not start, with the incident that tells why. */
  async insertStopped(
    manager: EntityManager,
    row: InstanceRow,
    { definition, ...incident }: RaisedIncident,
    actor: string | null,
  ): Promise<void> {
    const { raisedAt: at, requestId } = incident;
    await this.instances.insert(manager, { ...row, seq: 1, openIncidents: 1 });
    await storeSearchValues(manager, row, definition?.searchable.changes(null, row.content.data) ?? []);
    await this.incidents.insert(manager, row, incident);
    await this.events.insert(manager, row, [raised(incident, 1)], { actor, requestId, at });
  }

  private async insert(
    manager: EntityManager,
    head: InstanceHead,
    incident: IncidentRow,
    actor: string | null,
  ): Promise<void> {
    const { raisedAt: at, requestId } = incident;
    const seq = head.seq + 1;
    await this.instances.updateTrail(manager, head, {
      seq,
      openIncidents: head.openIncidents + 1,
      modifiedAt: at,
    });
    await this.incidents.insert(manager, head, incident);
    await this.events.insert(manager, head, [raised(incident, seq)], { actor, requestId, at });
  }

  /** The incident with its element and what led to it; null when nothing waits for what failed any more. */
  private async placed(
    manager: EntityManager,
    head: InstanceHead,
    { definition, ...incident }: RaisedIncident,
  ): Promise<IncidentRow | null> {
    const { tokenId } = incident;
    const isStanding = tokenId !== null && !hasEnded(head.state);
    const [token] = isStanding ? await this.tokens.byIds(manager, head.id, [tokenId]) : [];
    if (!isWanted(head.state, incident, token)) {
      return null;
    }
    const requestId = incident.requestId ?? (await this.events.lastRequest(manager, head.id, head.seq));
    return { ...incident, requestId, element: incident.element ?? elementAt(definition, incident, token) };
  }
}

/** Whether anything still waits for what failed. */
function isWanted(
  state: InstanceStatus,
  { job, tokenId, visit }: IncidentRow,
  token: TokenRow | undefined,
): boolean {
  return hasEnded(state)
    ? job !== null && outlives(job, state)
    : tokenId === null || token?.state.visit === visit;
}

/** The element at which it stopped, or else the one at which its token stands. */
function elementAt(
  definition: RunnableDefinition | undefined,
  { node }: IncidentRow,
  token: TokenRow | undefined,
): string | null {
  const index = node ?? token?.state.node ?? null;
  return definition === undefined ? null : (elementOf(definition, index) ?? null);
}

function raised(incident: IncidentRow, seq: number): NewEvent {
  const { uuid: id, tokenId, node, source, type } = incident;
  return { seq, kind: 'INCIDENT_RAISED', tokenId, node, data: { incident: id, source, type } };
}
