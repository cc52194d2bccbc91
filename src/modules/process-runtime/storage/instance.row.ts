import type { JsonObject } from '../../../common/json.js';
import type { UserReference } from '../../../common/user/user-reference.js';
import type { RawRow } from '../../../database/raw-row.js';
import { toBoolean, toDate, toJson } from '../../../database/raw-row.js';
import { toSafeInteger } from '../../../database/safe-integer.js';
import { toStoredText } from '../../../database/stored-text.js';
import type {
  ExecutedCall,
  InstanceState,
  InstanceStatus,
  JoinState,
  ReturnPoint,
} from '../engine/state/engine.types.js';
import { sqlText, sqlTime, sqlTimeOrNull, type SqlRow } from './sql.js';

/** A background job that waits until an instance is released, or for a retry of its incident. */
export interface ParkedJob {
  kind: string;
  /** Its owner, which may be another one: a called process has work for its caller. */
  instanceId: number | null;
  tokenId: number | null;
  payload: JsonObject;
}

/** What of an instance is one text of JSON. */
export interface InstanceContent {
  data: JsonObject;
  joins: JoinState[];
  returnPoints: ReturnPoint[];
  /** Absent in what was stored before there was this member. */
  executions?: ExecutedCall[];
  pending: InstanceState['pending'];
  continues: number;
  backCounter: number;
  parked: ParkedJob[];
}

/** Where a called process came from. */
export interface ParentLink {
  appId: string;
  id: number;
  uuid: string;
  /** Token, visit and place among the calls of that visit. */
  tokenId: number;
  visit: number;
  index: number;
  /** Number of the parent's last event when it asked for the call. */
  seq: number;
  /** Whether a token of the parent waits for the end. */
  waits: boolean;
}

/** What never changes of an instance. */
export interface InstanceIdentity {
  id: number;
  uuid: string;
  shard: number;
  appId: string;
  /** Application at the top of the calls: messages reach whatever runs under it. */
  rootAppId: string;
  buildId: string;
  buildStatus: string;
  definitionId: number;
  definitionSvcUuid: string;
  processName: string;
  platform: string | null;
  /** Hash of issuer and subject of the caller who started it; null when nobody did. */
  starter: string | null;
  startedBy: UserReference | null;
  parent: ParentLink | null;
  depth: number;
  startedAt: Date;
  expiresAt: Date | null;
}

/** An instance without its content. */
export interface InstanceHead extends InstanceIdentity {
  state: InstanceStatus;
  rev: number;
  seq: number;
  openIncidents: number;
  modifiedAt: Date;
  endedAt: Date | null;
}

/** An instance as stored. */
export interface InstanceRow extends InstanceHead {
  content: InstanceContent;
}

export const HEAD_COLUMNS = `id, uuid, shard, app_id, root_app_id, build_id, build_status, definition_id, definition_svc_uuid, process_name, platform,
  starter, started_by, parent_app_id, parent_id, parent_uuid, parent_token_id, parent_visit, parent_index,
  parent_seq, parent_waits, depth, state, rev, seq, open_incidents, started_at, modified_at, ended_at, expires_at`;

/** Makes typed values of `HEAD_COLUMNS`. */
export function toInstanceHead(row: RawRow): InstanceHead {
  return {
    ...toIdentity(row),
    state: row['state'] as InstanceStatus,
    rev: Number(row['rev']),
    seq: Number(row['seq']),
    openIncidents: Number(row['open_incidents']),
    modifiedAt: toDate(row['modified_at']),
    endedAt: orNull(row['ended_at'], toDate),
  };
}

/** Makes typed values of `HEAD_COLUMNS` and `content`. */
export function toInstanceRow(row: RawRow): InstanceRow {
  return {
    ...toInstanceHead(row),
    content: JSON.parse(toStoredText(row['content'])) as InstanceContent,
  };
}

function toIdentity(row: RawRow): InstanceIdentity {
  return {
    id: toSafeInteger(row['id']),
    uuid: row['uuid'] as string,
    shard: Number(row['shard']),
    appId: row['app_id'] as string,
    rootAppId: row['root_app_id'] as string,
    buildId: row['build_id'] as string,
    buildStatus: row['build_status'] as string,
    definitionId: toSafeInteger(row['definition_id']),
    definitionSvcUuid: row['definition_svc_uuid'] as string,
    processName: row['process_name'] as string,
    platform: row['platform'] as string | null,
    starter: row['starter'] as string | null,
    startedBy: orNull(row['started_by'], toJson) as UserReference | null,
    parent: toParent(row),
    depth: Number(row['depth']),
    startedAt: toDate(row['started_at']),
    expiresAt: orNull(row['expires_at'], toDate),
  };
}

function toParent(row: RawRow): ParentLink | null {
  if (row['parent_id'] === null) {
    return null;
  }
  return {
    appId: row['parent_app_id'] as string,
    id: toSafeInteger(row['parent_id']),
    uuid: row['parent_uuid'] as string,
    tokenId: toSafeInteger(row['parent_token_id']),
    visit: Number(row['parent_visit']),
    index: Number(row['parent_index']),
    seq: Number(row['parent_seq']),
    waits: toBoolean(row['parent_waits']),
  };
}

/** The columns of a new instance. */
export function fromInstanceRow(row: InstanceRow): SqlRow {
  return {
    ...fromIdentity(row),
    ...fromParent(row.parent),
    state: row.state,
    rev: row.rev,
    seq: row.seq,
    open_incidents: row.openIncidents,
    content: sqlText(JSON.stringify(row.content)),
    started_at: sqlTime(row.startedAt),
    modified_at: sqlTime(row.modifiedAt),
    ended_at: sqlTimeOrNull(row.endedAt),
    expires_at: sqlTimeOrNull(row.expiresAt),
  };
}

function fromIdentity(row: InstanceIdentity): SqlRow {
  return {
    id: row.id,
    uuid: row.uuid,
    shard: row.shard,
    app_id: row.appId,
    root_app_id: row.rootAppId,
    build_id: row.buildId,
    build_status: row.buildStatus,
    definition_id: row.definitionId,
    definition_svc_uuid: row.definitionSvcUuid,
    process_name: row.processName,
    platform: row.platform,
    starter: row.starter,
    started_by: row.startedBy === null ? null : JSON.stringify(row.startedBy),
    depth: row.depth,
  };
}

function fromParent(parent: ParentLink | null): SqlRow {
  return {
    parent_app_id: null,
    parent_id: null,
    parent_uuid: null,
    parent_token_id: null,
    parent_visit: null,
    parent_index: null,
    parent_seq: null,
    parent_waits: false,
    parent_key: null,
    ...(parent === null ? {} : linkColumns(parent)),
  };
}

function linkColumns(parent: ParentLink): SqlRow {
  return {
    parent_app_id: parent.appId,
    parent_id: parent.id,
    parent_uuid: parent.uuid,
    parent_token_id: parent.tokenId,
    parent_visit: parent.visit,
    parent_index: parent.index,
    parent_seq: parent.seq,
    parent_waits: parent.waits,
    parent_key: parentKey(parent),
  };
}

/** One child for each index of a visit of a waiting call activity; others need no key. */
function parentKey(parent: ParentLink): string | null {
  return parent.waits ? `${parent.tokenId}:${parent.visit}:${parent.index}:${parent.seq}` : null;
}

function orNull<T>(value: unknown, map: (value: unknown) => T): T | null {
  return value === null || value === undefined ? null : map(value);
}
