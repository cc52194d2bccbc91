import type { JsonObject } from '#engine/json';
import type { GraphNode } from '#engine/definitions';
import { openUiActions, type InstanceState, type TokenState } from '#engine/tokens';
import type { InstanceList } from '../model/instance.params.dto.js';
import type { InstanceSnapshot } from './instance-snapshots.js';
import { toInstanceState } from '../steps/instance-status.js';
import { laneOf, type RunnableDefinition } from '../definitions/runnable-definitions.service.js';
import type { EventRow } from '../storage/events.repository.js';
import type { IncidentHead } from '../storage/incidents.repository.js';
import type { InstanceHead } from '../storage/process-instance.entity.js';
import type { TokenRow } from '../storage/process-token.entity.js';
import { toTokenView } from '../starts/process-start.service.js';
import type { HistoryEventDto, InstanceNodeDto } from './instance-history.dto.js';
import type {
  InstanceChildDto,
  InstanceIncidentDto,
  InstanceResponseDto,
  InstanceSummaryDto,
  InstanceTokenDto,
  OpenUiActionDto,
} from './instance.response.dto.js';

/** Sources of the public ids of nodes and tokens. */
type Names = Pick<InstanceSnapshot, 'definition' | 'tokenUuids'>;

/**
 * Converts a snapshot to the response for one caller.
 * @param included optional lists to include
 * @param mayExecute whether the caller may execute the UI actions of a node; others are left out
 */
export function toInstanceView(
  snapshot: InstanceSnapshot,
  included: ReadonlySet<InstanceList>,
  mayExecute: (node: GraphNode) => boolean,
): InstanceResponseDto {
  const { row, definition, live, ended, incidents, failedChildren } = snapshot;
  const state = toInstanceState(row, live);
  const tokens = [...live, ...ended].map((token) => ({
    ...toInstanceToken(snapshot, token),
    uiActions: uiActionsOf(definition, state, token.state, mayExecute),
  }));
  return {
    ...toInstanceSummary(row),
    tokens: tokens.toSorted((one, other) => rank(one) - rank(other)),
    data: row.content.data,
    corrections: (row.content.corrections ?? []).toReversed(),
    incidents: incidents.map((incident) => ({
      ...toIncidentView(snapshot, incident),
      childProcessInstanceUuid: failedChildren.get(incident.id) ?? null,
    })),
    ...(included.has('children') ? { children: toChildren(snapshot) } : {}),
    ...(included.has('history') ? toHistory(snapshot) : {}),
  };
}

function toChildren({ children }: InstanceSnapshot): InstanceChildDto[] {
  return children
    .toSorted((one, other) => one.id - other.id)
    .map(({ uuid, state, processName, parentIndex }) => ({
      uuid,
      state,
      processDefinitionName: processName,
      index: parentIndex ?? 0,
    }));
}

function toHistory(snapshot: InstanceSnapshot): Pick<InstanceResponseDto, 'history' | 'historyNext'> {
  const oldest = snapshot.events.at(-1)?.seq ?? 1;
  return {
    history: snapshot.events.map((event) => toHistoryEvent(snapshot, event)),
    historyNext: oldest > 1 ? oldest : null,
  };
}

/** Converts an instance to a list entry. */
export function toInstanceSummary(head: InstanceHead): InstanceSummaryDto {
  return {
    uuid: head.uuid,
    state: head.state,
    processDefinitionName: head.processName,
    processDefinitionSvcUuid: head.definitionSvcUuid,
    buildId: head.buildId,
    buildStatusAtStart: head.buildStatus,
    applicationId: head.appId,
    parentApplicationId: head.parentAppId,
    rootApplicationId: head.rootAppId,
    parentProcessInstanceUuid: head.parentUuid,
    platform: head.platform,
    startedBy: head.startedBy,
    startedAt: head.startedAt.toISOString(),
    dateUpdated: head.modifiedAt.toISOString(),
    endedAt: head.endedAt?.toISOString() ?? null,
    expiresAt: head.expiresAt?.toISOString() ?? null,
    openIncidents: head.openIncidents,
    instanceMetadata: { processInstanceId: head.id, processInstanceUuid: head.uuid },
  };
}

/** Converts an event of the audit trail, with public ids of nodes and tokens. */
export function toHistoryEvent({ definition, tokenUuids }: Names, event: EventRow): HistoryEventDto {
  const { seq, kind, at, actor, requestId, tokenId, node, data } = event;
  return {
    seq,
    kind,
    timestamp: at.toISOString(),
    actor,
    requestId,
    tokenUuid: uuidOf(tokenId, tokenUuids),
    ...toNodeView(definition, node),
    data: toEventData(definition, data),
  };
}

/** Replaces the engine's node index with the node id, which stays the same in later builds. */
function toEventData(definition: RunnableDefinition, data: JsonObject | null): JsonObject | null {
  if (typeof data?.['fromNode'] !== 'number') {
    return data;
  }
  const { fromNode, ...others } = data;
  return { ...others, fromNodeId: definition.nodeAt(fromNode)?.id ?? null };
}

function toIncidentView(
  { definition, tokenUuids }: Names,
  { uuid, source, type, message, tokenId, node, actionSvcUuid, ...traced }: IncidentHead,
): Omit<InstanceIncidentDto, 'childProcessInstanceUuid'> {
  return {
    uuid,
    source,
    type,
    message,
    tokenUuid: uuidOf(tokenId, tokenUuids),
    ...toNodeView(definition, node),
    actionSvcUuid,
    workflowRunId: traced.workflowRunId,
    requestId: traced.requestId,
    timestamp: traced.raisedAt.toISOString(),
  };
}

/** Converts a token, without its UI actions. */
export function toInstanceToken(
  { definition, tokenUuids }: Names,
  { state, modifiedAt }: TokenRow,
): Omit<InstanceTokenDto, 'uiActions'> {
  const node = definition.nodeAt(state.node);
  return {
    ...toTokenView(definition, state, modifiedAt),
    bpmnElementId: node?.key ?? null,
    parentTokenUuid: uuidOf(state.parentId, tokenUuids),
    lane: (node === undefined ? undefined : laneOf(definition, node)?.name) ?? null,
  };
}

/** Returns the UI actions that can be executed on a token now. @param mayExecute whether the caller may act at a node */
export function uiActionsOf(
  definition: RunnableDefinition,
  instance: InstanceState,
  token: TokenState,
  mayExecute: (node: GraphNode) => boolean,
): OpenUiActionDto[] {
  return openUiActions(definition.runtime, instance, token).flatMap((action) => {
    const place = definition.runtime.uiAction(action.svcUuid);
    return place === undefined || !mayExecute(place.node)
      ? []
      : [{ ...action, bodySchema: place.uiAction.bodySchema }];
  });
}

function toNodeView(definition: RunnableDefinition, index: number | null): InstanceNodeDto {
  const node = index === null ? undefined : definition.nodeAt(index);
  return {
    nodeId: node?.id ?? null,
    nodeName: node?.name ?? null,
    bpmnElementId: node?.key ?? null,
  };
}

function uuidOf(id: number | null, uuids: ReadonlyMap<number, string>): string | null {
  return id === null ? null : (uuids.get(id) ?? null);
}

/** Sorts tokens that can be acted on first. */
function rank({ state }: InstanceTokenDto): number {
  if (state === 'ACTIVE') {
    return 0;
  }
  return state === 'ON_HOLD' ? 1 : 2;
}
