import { hash } from 'node:crypto';
import { In, LessThanOrEqual, MoreThan } from 'typeorm';
import type { Sender } from '../../store/groups/step-transaction.js';
import { andShard, sameShard, shardOf, shardOfHash } from '../../store/shards.js';
import { Table } from '../../store/tables/table.js';
import { ProcessMessageWaitEntity, ProcessMessageEntity } from './process-message.entity.js';
import { cut } from './incidents.repository.js';

/** A token that waits. */
export type WaitRow = Pick<ProcessMessageWaitEntity, 'id' | 'instanceId' | 'tokenId' | 'visit' | 'node'>;

/** Who waits for a message. */
export interface Waiting {
  /** The token that has waited longest. */
  first: WaitRow | null;
  /** The uuids of the first two instances, where a correlation says that one of them is meant. */
  several: { app: string; message: string; instances: [string, string] } | null;
}

/** A message that waits for a receiver. */
export type MessageRow = Omit<ProcessMessageEntity, 'shard'>;

const NAME_MAX_LENGTH = 255;

const WAITS = new Table(ProcessMessageWaitEntity, { instanceId: shardOf });
const PLACE = WAITS.select('id', 'instanceId', 'tokenId', 'visit', 'node');
// Spelled out: one looks into two tables, the other wants each key once.
const WAITING = `SELECT ${PLACE.columns('waits')}, waits.message AS message, instances.root_app_id AS app, instances.uuid AS uuid
  FROM process_message_waits waits JOIN process_instances instances ON instances.id = waits.instance_id`;
const OLDEST = 'WHERE waits.wait_key = ? AND instances.state = ? ORDER BY waits.id LIMIT 2';
const KEYS = `SELECT DISTINCT ${WAITS.select('waitKey').columns('waits')} FROM process_message_waits waits
  WHERE waits.instance_id = ?`;

const MESSAGES = new Table(ProcessMessageEntity, { waitKey: shardOfHash });
const ID = MESSAGES.select('id');
const MESSAGE = MESSAGES.selectAllBut('shard');

/** Hash of what brings a message and those who wait for it together: names and correlations may have any length. */
export function waitKey(rootAppId: string, message: string, correlation: string | null): string {
  return hash('sha256', JSON.stringify([rootAppId, message, correlation]));
}

export const Messages = {
  async addWaits(
    manager: Sender,
    { id: instanceId, shard }: { id: number; shard: number },
    waits: readonly Omit<ProcessMessageWaitEntity, 'instanceId' | 'shard'>[],
  ): Promise<void> {
    await WAITS.insert(
      manager,
      waits.map((wait) => ({ ...wait, shard, instanceId, message: cut(wait.message, NAME_MAX_LENGTH) })),
    );
  },

  /** Removes what tokens of an instance wait for. */
  async removeWaitsOf(manager: Sender, instanceId: number, tokenIds: readonly number[]): Promise<void> {
    await WAITS.delete(manager, { instanceId, tokenId: In(tokenIds) });
  },

  /** Removes one wait; false when somebody else has used it up. */
  async removeWait(manager: Sender, { id, instanceId }: WaitRow): Promise<boolean> {
    return (await WAITS.delete(manager, { id, instanceId })) === 1;
  },

  /** The running instances that wait for a message, oldest wait first. */
  async waiting(manager: Sender, key: string): Promise<Waiting> {
    // Tokens wait where their instances are: every shard is asked.
    const sql = `${WAITING}${sameShard(manager, 'instances', 'waits')} ${OLDEST}`;
    const raw = await manager.query<Record<'message' | 'app' | 'uuid', string>[]>(sql, [key, 'STARTED']);
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

  /** The keys that tokens of an instance wait for, each once. */
  async keysOf(manager: Sender, instanceId: number): Promise<string[]> {
    const shard = andShard(manager, shardOf(instanceId), 'waits');
    const waits = await manager.query<{ waitKey: string }[]>(KEYS + shard.sql, [instanceId, ...shard.values]);
    return waits.map((wait) => wait.waitKey);
  },

  /** @throws QueryFailedError, a duplicate, when it is stored already */
  async publish(manager: Sender, message: MessageRow): Promise<void> {
    const row = {
      ...message,
      shard: shardOfHash(message.waitKey),
      message: cut(message.message, NAME_MAX_LENGTH),
    };
    await MESSAGES.insert(manager, [row]);
  },

  /** The oldest message with this key that has not expired. */
  async oldestMessage(manager: Sender, key: string, now: Date): Promise<MessageRow | null> {
    const waiting = { waitKey: key, expiresAt: MoreThan(now) };
    const found = await ID.first(manager, waiting, { order: { id: 'ASC' }, limit: 1 });
    return found === null ? null : MESSAGE.first(manager, { id: found.id, waitKey: key });
  },

  /** Removes one message; false when somebody else has received it. */
  async removeMessage(
    manager: Sender,
    { id, waitKey }: Pick<MessageRow, 'id' | 'waitKey'>,
  ): Promise<boolean> {
    return (await MESSAGES.delete(manager, { id, waitKey })) === 1;
  },

  /** Removes messages of some shards that nobody has received in time; returns how many. */
  async removeExpired(manager: Sender, shards: readonly number[], now: Date, limit: number): Promise<number> {
    const found = { order: { expiresAt: 'ASC' }, limit } as const;
    const expired = { expiresAt: LessThanOrEqual(now), shard: In([...shards]) };
    return MESSAGES.deleteFirst(manager, 'id', expired, found);
  },
};
