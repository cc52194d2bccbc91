import { In } from 'typeorm';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import type { SelectionPart } from '../../store/tables/selection.js';
import { andShard, shardOf } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import type { TokenState } from '#engine/tokens';
import { ProcessTokenNotFoundError } from '../model/process-runtime.errors.js';
import type { InstanceHead } from './process-instance.entity.js';
import { InstanceRevisionError } from './instances.repository.js';
import {
  ProcessTokenEntity,
  toTokenRow,
  type StoredToken,
  type TokenFlags,
  type TokenRow,
} from './process-token.entity.js';

/** Changed token with the flags determined by the step. */
export interface TokenChange {
  token: TokenState;
  flags: TokenFlags;
}

type TokenOwner = Pick<InstanceHead, 'id' | 'shard'>;

/** Position of a token in the token tree. */
export type TokenLink = Pick<ProcessTokenEntity, 'id' | 'parentId'>;

const TOKENS = new Table(ProcessTokenEntity, { instanceId: shardOf });
const WHOLE = TOKENS.selectAllBut('shard', 'live', 'createdAt');
const SHOWN = TOKENS.selectAllBut('shard', 'createdAt');
const PLACE = TOKENS.select('id', 'visit');
const NAME = TOKENS.select('id', 'uuid');
const LINK = TOKENS.select('id', 'parentId');

/** Token with its instance and whether it is live. */
export type ShownToken = StoredToken & Pick<ProcessTokenEntity, 'instanceId' | 'live'>;

/** Selects the live and the newest tokens of instances, for `readTogether`. */
export function shownTokens(
  executor: SqlExecutor,
  instanceIds: readonly number[],
  newest: number,
): SelectionPart<ShownToken> {
  const ids = instanceIds.map(() => '?').join(', ');
  // Uses only the index, without reading rows of tokens that are not shown.
  const shard = andShard(executor, instanceIds.map(shardOf));
  const placed = `SELECT id, live, ROW_NUMBER() OVER (PARTITION BY instance_id ORDER BY id DESC) AS place FROM process_tokens WHERE instance_id IN (${ids})${shard.sql}`;
  const and = {
    sql: `id IN (SELECT id FROM (${placed}) AS placed WHERE live = 1 OR place <= ?)`,
    values: [...instanceIds, ...shard.values, newest],
  };
  return SHOWN.part(executor, { instanceId: In([...instanceIds]) }, { and });
}

/** Reads and writes tokens. Every statement includes the instance, whose lock the caller holds. */
export const Tokens = {
  /** Returns the tokens that a step needs, sorted by id. */
  async live(executor: SqlExecutor, instanceId: number): Promise<TokenRow[]> {
    // Sorted in memory because the server would have to sort rows with long texts.
    return toTokenRows(await WHOLE.findBy(executor, 'instanceId', instanceId, { live: true }));
  },

  async byIds(executor: SqlExecutor, instanceId: number, ids: readonly number[]): Promise<TokenRow[]> {
    return toTokenRows(await WHOLE.find(executor, { id: In(ids), instanceId }));
  },

  /** Returns a token of the instance, live or not. @throws ProcessTokenNotFoundError */
  async require(
    executor: SqlExecutor,
    instanceId: number,
    uuid: string,
  ): Promise<Pick<ProcessTokenEntity, 'id' | 'visit'>> {
    const token = await PLACE.first(executor, { instanceId, uuid });
    if (token === null) {
      throw new ProcessTokenNotFoundError();
    }
    return token;
  },

  /** Returns the uuids of tokens by id. */
  async uuids(
    executor: SqlExecutor,
    instanceIds: readonly number[],
    ids: readonly number[],
  ): Promise<Map<number, string>> {
    const rows = await NAME.find(executor, { id: In(ids), instanceId: In(instanceIds) });
    return new Map(rows.map(({ id, uuid }) => [id, uuid]));
  },

  async links(executor: SqlExecutor, instanceId: number): Promise<TokenLink[]> {
    return LINK.find(executor, { instanceId });
  },

  /** Writes tokens in the order of their ids. @throws InstanceRevisionError when a token has changed since it was loaded */
  async write(
    executor: SqlExecutor,
    owner: TokenOwner,
    changes: readonly TokenChange[],
    now: Date,
  ): Promise<void> {
    const sorted = changes.toSorted((one, other) => one.token.id - other.token.id);
    for (const change of sorted.filter(({ token }) => token.rev > 0)) {
      const { id, rev } = change.token;
      const changed = { rev: () => 'rev + 1', ...toChanged(change, now) };
      if ((await TOKENS.update(executor, { id, instanceId: owner.id, rev }, changed)) !== 1) {
        throw new InstanceRevisionError('The revision of a token has changed.');
      }
    }
    const added = sorted.filter(({ token }) => token.rev === 0).map((change) => toNewRow(change, owner, now));
    await TOKENS.insert(executor, added);
  },
};

/** Converts stored tokens for the engine, sorted by id. */
export function toTokenRows(stored: readonly StoredToken[]): TokenRow[] {
  return stored.map(toTokenRow).toSorted((one, other) => one.state.id - other.state.id);
}

function toNewRow(change: TokenChange, owner: TokenOwner, createdAt: Date): ProcessTokenEntity {
  const { id: instanceId, shard } = owner;
  const { id, uuid, scopeTokenId, startNode } = change.token;
  const fixed = { id, uuid, shard, instanceId, scopeTokenId, startNode, createdAt, rev: 1 };
  return Object.assign(toChanged(change, createdAt), fixed);
}

function toChanged(
  { token, flags }: TokenChange,
  modifiedAt: Date,
): Omit<
  ProcessTokenEntity,
  'id' | 'uuid' | 'shard' | 'instanceId' | 'scopeTokenId' | 'startNode' | 'createdAt' | 'rev'
> {
  const { parentId, node, state, status, visit, syncCount, syncFinished, actions, call } = token;
  const { live, hasJobs, hasWaits } = flags;
  const content = { actions, call };
  return {
    live,
    parentId,
    node,
    state,
    status,
    visit,
    syncCount,
    syncFinished,
    hasJobs,
    hasWaits,
    content,
    modifiedAt,
  };
}
