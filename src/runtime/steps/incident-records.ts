import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import type { EngineIncident, IncidentSource, IncidentType, InstanceStatus } from '#engine/tokens';
import { orderedUuid } from '../../platform/ordered-uuid.js';
import { type IncidentRow, Incidents, type IncidentHead } from '../storage/incidents.repository.js';
import type { ParkedJob, InstanceHead, InstanceRow } from '../storage/process-instance.entity.js';
import { workKeyOf, outlives } from './runtime-job.js';
import { requestContext } from '../../platform/observability/logging/request-context.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { TooManyIncidentsError } from '../model/process-runtime.errors.js';
import type { TrailEvent } from '../storage/packed-events.js';
import { Events } from '../storage/events.repository.js';
import { Instances } from '../storage/instances.repository.js';
import type { IncidentState } from '../model/process-runtime.types.js';
import { storeSearchValues } from '../storage/search-values.js';
import type { TokenRow } from '../storage/process-token.entity.js';
import { Tokens } from '../storage/tokens.repository.js';
import { elementOf, type RunnableDefinition } from '../definitions/runnable-definitions.service.js';
import { hasEnded } from './instance-status.js';
import { processLimits } from '../process.limits.js';

export interface Fault {
  source: IncidentSource;
  type: IncidentType;
  message: string;
  /** Token and visit that stopped; null when the fault concerns the whole instance. */
  tokenId: number | null;
  visit: number | null;
  node: number | null;
  /** Id of the element in the BPMN file, if known. */
  element?: string | null | undefined;
  actionSvcUuid: string | null;
}

/** Returns the fault of a step that the engine stopped, with the token and visit that did not move. */
export function faultOf(
  { source, type, message, node, actionSvcUuid }: EngineIncident,
  definition: RunnableDefinition,
  { tokenId, visit }: Pick<Fault, 'tokenId' | 'visit'>,
): Fault {
  const element = elementOf(definition, node);
  return { source, type, message, tokenId, visit, node, element, actionSvcUuid };
}

/** Returns a new open incident. */
export function newIncident(
  id: number,
  fault: Fault,
  job: ParkedJob | null,
  raisedAt: Date,
  requestId: string | null,
): IncidentRow {
  return {
    ...fault,
    id,
    uuid: orderedUuid(raisedAt),
    state: 'OPEN',
    job,
    workKey: workKeyOf(job, fault),
    requestId,
    element: fault.element ?? null,
    workflowRunId: null,
    raisedAt,
    closedAt: null,
  };
}

/**
 * Origin of a fault: a failed job, which the incident ends and keeps for a retry; the user whose request failed; or the operator whose
 * retry of an incident failed.
 */
export type FaultOrigin = { job: Job } | { actor: string } | { actor: string; retried: IncidentRow };

/** An incident to raise. An incident without an element needs the definition, which finds it. */
export type RaisedIncident = IncidentRow & { definition?: RunnableDefinition | undefined };

export interface IncidentClosing {
  state: IncidentState;
  /** User name; null for the background. */
  actor: string | null;
  at: Date;
  /** Events that precede those of the incidents. */
  events?: Omit<TrailEvent, 'seq'>[] | undefined;
}

/**
 * Closes incidents that are still open, and updates their count in the instance and its audit trail. Like all functions of this file it
 * runs in the caller's transaction, which has locked the instance.
 */
export async function closeIncidents(
  executor: SqlExecutor,
  instanceId: number,
  incidents: readonly IncidentHead[],
  { state, actor, at, events: before = [] }: IncidentClosing,
): Promise<void> {
  const head = await Instances.findHead(executor, { id: instanceId });
  const open = head === null ? [] : await Incidents.stillOpen(executor, instanceId, incidents);
  if (head === null || open.length === 0) {
    return;
  }
  const first = head.seq + 1;
  const events = [
    ...before.map((event, index) => ({ ...event, seq: first + index })),
    ...open.map((incident, index) => closedEvent(incident, state, first + before.length + index)),
  ];
  await Instances.update(executor, head, {
    seq: head.seq + events.length,
    openIncidents: head.openIncidents - open.length,
    modifiedAt: at,
  });
  const ids = open.map(({ id }) => id);
  await Incidents.close(executor, instanceId, ids, state, at);
  const requestId = requestContext()?.requestId ?? null;
  await Events.insert(executor, head, events, { actor, requestId, at });
}

/**
 * Raises an incident, unless the stopped token has moved on or ended. Work that fails again updates its open incident.
 * @returns the stored incident; null when none is stored
 * @throws TooManyIncidentsError when a job has failed and the instance has the maximum number of incidents
 */
export async function raiseIncident(
  executor: SqlExecutor,
  head: InstanceHead,
  raised: RaisedIncident,
  origin: FaultOrigin,
): Promise<IncidentRow | null> {
  const incident = await withPlace(executor, head, raised);
  if (incident === null) {
    return null;
  }
  const { workKey } = 'retried' in origin ? origin.retried : incident;
  const same = head.openIncidents === 0 ? null : await Incidents.openOf(executor, head.id, workKey);
  if (same !== null) {
    await Incidents.refresh(executor, head.id, same.id, incident);
    return { ...incident, uuid: same.uuid };
  }
  const most = processLimits.incidents;
  const isFull = head.openIncidents >= most;
  if (isFull && 'job' in origin) {
    throw new TooManyIncidentsError(most);
  }
  // An incident that another operator has retried meanwhile is not raised again. A caller got an error and can try again.
  if (isFull || 'retried' in origin) {
    return null;
  }
  await insert(executor, head, incident, 'actor' in origin ? origin.actor : null);
  return incident;
}

/** Stores an instance that could not start, with its incident. */
export async function insertStopped(
  executor: SqlExecutor,
  row: InstanceRow,
  { definition, ...incident }: RaisedIncident,
  actor: string | null,
): Promise<void> {
  const { raisedAt: at, requestId } = incident;
  await Instances.insert(executor, { ...row, seq: 1, openIncidents: 1 });
  await storeSearchValues(executor, row, definition?.searchable.changes(null, row.content.data) ?? []);
  await Incidents.insert(executor, row, incident);
  await Events.insert(executor, row, [raisedEvent(incident, 1)], { actor, requestId, at });
}

async function insert(
  executor: SqlExecutor,
  head: InstanceHead,
  incident: IncidentRow,
  actor: string | null,
): Promise<void> {
  const { raisedAt: at, requestId } = incident;
  const seq = head.seq + 1;
  await Instances.update(executor, head, { seq, openIncidents: head.openIncidents + 1, modifiedAt: at });
  await Incidents.insert(executor, head, incident);
  await Events.insert(executor, head, [raisedEvent(incident, seq)], { actor, requestId, at });
}

/** Adds element and request to an incident; returns null when the failed work no longer matters. */
async function withPlace(
  executor: SqlExecutor,
  head: InstanceHead,
  { definition, ...incident }: RaisedIncident,
): Promise<IncidentRow | null> {
  const { tokenId } = incident;
  const mayHaveToken = tokenId !== null && !hasEnded(head.state);
  const [token] = mayHaveToken ? await Tokens.byIds(executor, head.id, [tokenId]) : [];
  if (!isStillRelevant(head.state, incident, token)) {
    return null;
  }
  const requestId = incident.requestId ?? (await Events.lastRequest(executor, head.id, head.seq));
  return { ...incident, requestId, element: incident.element ?? elementAt(definition, incident, token) };
}

function isStillRelevant(
  state: InstanceStatus,
  { job, tokenId, visit }: IncidentRow,
  token: TokenRow | undefined,
): boolean {
  return hasEnded(state)
    ? job !== null && outlives(job, state)
    : tokenId === null || token?.state.visit === visit;
}

/** Returns the element of the incident, or else the one at which its token is. */
function elementAt(
  definition: RunnableDefinition | undefined,
  { node }: IncidentRow,
  token: TokenRow | undefined,
): string | null {
  const index = node ?? token?.state.node ?? null;
  return definition === undefined ? null : (elementOf(definition, index) ?? null);
}

export function raisedEvent({ uuid, tokenId, node, source, type }: IncidentRow, seq: number): TrailEvent {
  return { seq, kind: 'INCIDENT_RAISED', tokenId, node, data: { incident: uuid, source, type } };
}

export function closedEvent(
  { uuid, tokenId, node }: IncidentHead,
  state: IncidentState,
  seq: number,
): TrailEvent {
  return { seq, kind: 'INCIDENT_CLOSED', tokenId, node, data: { incident: uuid, state } };
}
