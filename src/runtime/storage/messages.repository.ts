import { hash } from 'node:crypto';
import { In, LessThanOrEqual, MoreThan } from 'typeorm';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { andShard, sameShard, shardOf, shardOfHash } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import { ProcessMessageWaitEntity, ProcessMessageEntity } from './process-message.entity.js';
import { cut } from './incidents.repository.js';

/** Wait of a token for a message. */
export type WaitRow = Pick<ProcessMessageWaitEntity, 'id' | 'instanceId' | 'tokenId' | 'visit' | 'node'>;

/** Receivers that wait for a message. */
export interface Waiting {
  /** Oldest wait. */
  first: WaitRow | null;
  /** First two instances, if several wait for the same correlation, which should identify one. */
  several: { app: string; message: string; instances: [string, string] } | null;
}

/** Message that waits for a receiver. */
export type MessageRow = Omit<ProcessMessageEntity, 'shard'>;

const NAME_MAX_LENGTH = 255;

const WAITS = new Table(ProcessMessageWaitEntity, { instanceId: shardOf });
const PLACE = WAITS.select('id', 'instanceId', 'tokenId', 'visit', 'node');
// Raw SQL because one statement joins two tables and the other needs DISTINCT.
const WAITING = `SELECT ${PLACE.columns('waits')}, waits.message AS message, instances.root_app_id AS app, instances.uuid AS uuid
  FROM process_message_waits waits JOIN process_instances instances ON instances.id = waits.instance_id`;
const OLDEST = 'WHERE waits.wait_key = ? AND instances.state = ? ORDER BY waits.id LIMIT 2';
const KEYS = `SELECT DISTINCT ${WAITS.select('waitKey').columns('waits')} FROM process_message_waits waits
  WHERE waits.instance_id = ?`;

const MESSAGES = new Table(ProcessMessageEntity, { waitKey: shardOfHash });
const ID = MESSAGES.select('id');
const MESSAGE = MESSAGES.selectAllBut('shard');

/** Hashes the values that match a message to its receivers, since names and correlations may have any length. */
export function waitKey(rootAppId: string, message: string, correlation: string | null): string {
  return hash('sha256', JSON.stringify([rootAppId, message, correlation]));
}

export const Messages = {
  async addWaits(
    executor: SqlExecutor,
    { id: instanceId, shard }: { id: number; shard: number },
    waits: readonly Omit<ProcessMessageWaitEntity, 'instanceId' | 'shard'>[],
  ): Promise<void> {
    await WAITS.insert(
      executor,
      waits.map((wait) => ({ ...wait, shard, instanceId, message: cut(wait.message, NAME_MAX_LENGTH) })),
    );
  },

  /** Removes all waits of tokens of an instance. */
  async removeWaitsOf(executor: SqlExecutor, instanceId: number, tokenIds: readonly number[]): Promise<void> {
    await WAITS.delete(executor, { instanceId, tokenId: In(tokenIds) });
  },

  /** Removes a wait; returns false if another transaction already has. */
  async removeWait(executor: SqlExecutor, { id, instanceId }: WaitRow): Promise<boolean> {
    return (await WAITS.delete(executor, { id, instanceId })) === 1;
  },

  /** Finds the receivers in running instances, oldest wait first. */
  async waiting(executor: SqlExecutor, key: string): Promise<Waiting> {
    // Waits are in the shards of their instances, so all shards are queried.
    const sql = `${WAITING}${sameShard(executor, 'instances', 'waits')} ${OLDEST}`;
    const raw = await executor.query<Record<'message' | 'app' | 'uuid', string>[]>(sql, [key, 'STARTED']);
    const [one, other] = raw.map(({ message, app, uuid }) => ({ message, app, uuid }));
    const areSeveral =
      one !== undefined &&
      other !== undefined &&
      one.uuid !== other.uuid &&
      key !== waitKey(one.app, one.message, null);
    return {
      first: PLACE.rows(raw)[0] ?? null,
      several: areSeveral ? { app: one.app, message: one.message, instances: [one.uuid, other.uuid] } : null,
    };
  },

  /** Returns the distinct wait keys of an instance. */
  async keysOf(executor: SqlExecutor, instanceId: number): Promise<string[]> {
    const shard = andShard(executor, shardOf(instanceId), 'waits');
    const waits = await executor.query<{ waitKey: string }[]>(KEYS + shard.sql, [
      instanceId,
      ...shard.values,
    ]);
    return waits.map((wait) => wait.waitKey);
  },

  /** Stores a message. @throws QueryFailedError for a duplicate */
  async publish(executor: SqlExecutor, message: MessageRow): Promise<void> {
    const row = {
      ...message,
      shard: shardOfHash(message.waitKey),
      message: cut(message.message, NAME_MAX_LENGTH),
    };
    await MESSAGES.insert(executor, [row]);
  },

  /** Returns the oldest unexpired message with this key. */
  async oldestMessage(executor: SqlExecutor, key: string, now: Date): Promise<MessageRow | null> {
    const waiting = { waitKey: key, expiresAt: MoreThan(now) };
    const found = await ID.first(executor, waiting, { order: { id: 'ASC' }, limit: 1 });
    return found === null ? null : MESSAGE.first(executor, { id: found.id, waitKey: key });
  },

  /** Removes a message; returns false if another receiver already has. */
  async removeMessage(
    executor: SqlExecutor,
    { id, waitKey }: Pick<MessageRow, 'id' | 'waitKey'>,
  ): Promise<boolean> {
    return (await MESSAGES.delete(executor, { id, waitKey })) === 1;
  },

  /** Removes expired messages from some shards; returns how many. */
  async removeExpired(
    executor: SqlExecutor,
    shards: readonly number[],
    now: Date,
    limit: number,
  ): Promise<number> {
    const found = { order: { expiresAt: 'ASC' }, limit } as const;
    const expired = { expiresAt: LessThanOrEqual(now), shard: In([...shards]) };
    return MESSAGES.deleteFirst(executor, 'id', expired, found);
  },
};
