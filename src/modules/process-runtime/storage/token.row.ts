import { toBoolean, toDate, type RawRow } from '../../../database/raw-row.js';
import { toSafeInteger } from '../../../database/safe-integer.js';
import { toStoredText } from '../../../database/stored-text.js';
import type { NodeStatus, TokenState, TokenStatus } from '../engine/state/engine.types.js';
import { sqlText, sqlTime, type SqlRow } from './sql.js';

/** What a row holds beside the state that the engine knows. */
export interface TokenRow {
  state: TokenState;
  /** Whether jobs or message waits may be there that end with the visit. */
  hasJobs: boolean;
  hasWaits: boolean;
  modifiedAt: Date;
}

export const TOKEN_COLUMNS = `id, uuid, parent_id, scope_token_id, start_node, node, state, status, visit, sync_count, sync_finished,
  rev, has_jobs, has_waits, content, modified_at`;

/** Makes typed values of `TOKEN_COLUMNS`. */
export function toTokenRow(row: RawRow): TokenRow {
  return {
    state: toTokenState(row),
    hasJobs: toBoolean(row['has_jobs']),
    hasWaits: toBoolean(row['has_waits']),
    modifiedAt: toDate(row['modified_at']),
  };
}

function toTokenState(row: RawRow): TokenState {
  const { actions, call } = JSON.parse(toStoredText(row['content'])) as Pick<TokenState, 'actions' | 'call'>;
  return {
    id: toSafeInteger(row['id']),
    uuid: row['uuid'] as string,
    parentId: idOrNull(row['parent_id']),
    scopeTokenId: idOrNull(row['scope_token_id']),
    startNode: Number(row['start_node']),
    node: Number(row['node']),
    state: row['state'] as TokenStatus,
    status: row['status'] as NodeStatus,
    visit: Number(row['visit']),
    syncCount: Number(row['sync_count']),
    syncFinished: Number(row['sync_finished']),
    actions,
    call,
    rev: Number(row['rev']),
  };
}

/** What a step writes of a token beside its state. */
export interface TokenFlags {
  live: boolean;
  hasJobs: boolean;
  hasWaits: boolean;
}

/** The columns that a step may change. */
export function changedTokenColumns(token: TokenState, flags: TokenFlags, now: Date): SqlRow {
  return {
    live: flags.live,
    parent_id: token.parentId,
    node: token.node,
    state: token.state,
    status: token.status,
    visit: token.visit,
    sync_count: token.syncCount,
    sync_finished: token.syncFinished,
    has_jobs: flags.hasJobs,
    has_waits: flags.hasWaits,
    content: sqlText(JSON.stringify({ actions: token.actions, call: token.call })),
    modified_at: sqlTime(now),
  };
}

/** The columns of a new token. */
export function newTokenColumns(
  token: TokenState,
  flags: TokenFlags,
  owner: { id: number; shard: number },
  now: Date,
): SqlRow {
  return {
    id: token.id,
    uuid: token.uuid,
    shard: owner.shard,
    instance_id: owner.id,
    scope_token_id: token.scopeTokenId,
    start_node: token.startNode,
    rev: 1,
    created_at: sqlTime(now),
    ...changedTokenColumns(token, flags, now),
  };
}

function idOrNull(value: unknown): number | null {
  return value === null ? null : toSafeInteger(value);
}
