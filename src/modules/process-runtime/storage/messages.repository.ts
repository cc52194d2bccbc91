import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { JsonObject } from '../../../common/json.js';
import type { RawRow } from '../../../database/raw-row.js';
import { toSafeInteger } from '../../../database/safe-integer.js';
import { toStoredText } from '../../../database/stored-text.js';
import { change, insertRows, placeholders, sqlText, sqlTime } from './sql.js';

/** What brings a message and those who wait for it together. */
export interface MessageAddress {
  /** Application at the top of the calls. */
  rootAppId: string;
  message: string;
  correlation: string | null;
}

/** A token that waits. */
export interface WaitRow {
  id: number;
  instanceId: number;
  tokenId: number;
  visit: number;
  node: number;
}

/** A message that waits for a receiver. */
export interface MessageRow {
  id: number;
  rootAppId: string;
  message: string;
  payload: JsonObject;
}

const NAME_MAX_LENGTH = 255;

/** Hash of an address: names and correlations may have any length. */
export function waitKey({ rootAppId, message, correlation }: MessageAddress): string {
  return hash('sha256', JSON.stringify([rootAppId, message, correlation]));
}

/** Published messages and tokens that wait for them. */
@Injectable()
export class MessagesRepository {
  async addWaits(
    manager: EntityManager,
    owner: { id: number; shard: number },
    waits: readonly (WaitRow & { message: string; key: string })[],
  ): Promise<void> {
    const rows = waits.map(({ id, tokenId, visit, node, message, key }) => ({
      id,
      shard: owner.shard,
      instance_id: owner.id,
      token_id: tokenId,
      visit,
      node,
      wait_key: key,
      message: cut(message),
    }));
    await insertRows(manager, 'process_message_waits', rows);
  }

  /** Removes what tokens of an instance wait for. */
  async removeWaitsOf(
    manager: EntityManager,
    instanceId: number,
    tokenIds: readonly number[],
  ): Promise<void> {
    if (tokenIds.length > 0) {
      await change(
        manager,
        `DELETE FROM process_message_waits WHERE instance_id = ? AND token_id IN (${placeholders(tokenIds)})`,
        [instanceId, ...tokenIds],
      );
    }
  }

  /** Removes one wait; false when somebody else has used it up. */
  async removeWait(manager: EntityManager, id: number): Promise<boolean> {
    return (await change(manager, 'DELETE FROM process_message_waits WHERE id = ?', [id])) === 1;
  }

  /** The wait of a running instance that is oldest. */
  async oldestWait(manager: EntityManager, key: string): Promise<WaitRow | null> {
    const [row] = await manager.query<RawRow[]>(
      `SELECT waits.id, waits.instance_id, waits.token_id, waits.visit, waits.node
       FROM process_message_waits waits JOIN process_instances instances ON instances.id = waits.instance_id
       WHERE waits.wait_key = ? AND instances.state = ? ORDER BY waits.id LIMIT 1`,
      [key, 'STARTED'],
    );
    return row === undefined
      ? null
      : {
          id: toSafeInteger(row['id']),
          instanceId: toSafeInteger(row['instance_id']),
          tokenId: toSafeInteger(row['token_id']),
          visit: Number(row['visit']),
          node: Number(row['node']),
        };
  }

  /** The keys that tokens of an instance wait for. */
  async keysOf(manager: EntityManager, instanceId: number): Promise<string[]> {
    const rows = await manager.query<RawRow[]>(
      'SELECT DISTINCT wait_key FROM process_message_waits WHERE instance_id = ?',
      [instanceId],
    );
    return rows.map((row) => row['wait_key'] as string);
  }

  /** @throws QueryFailedError, a duplicate, when it is stored already */
  async publish(
    manager: EntityManager,
    { id, rootAppId, message, payload }: MessageRow,
    key: string,
    [publishedAt, expiresAt]: [Date, Date],
  ): Promise<void> {
    const row = {
      id,
      wait_key: key,
      app_id: rootAppId,
      message: cut(message),
      payload: sqlText(JSON.stringify(payload)),
      published_at: sqlTime(publishedAt),
      expires_at: sqlTime(expiresAt),
    };
    await insertRows(manager, 'process_messages', [row]);
  }

  /** The oldest message with this key that has not expired. */
  async oldestMessage(manager: EntityManager, key: string, now: Date): Promise<MessageRow | null> {
    const [found] = await manager.query<RawRow[]>(
      'SELECT id FROM process_messages WHERE wait_key = ? AND expires_at > ? ORDER BY id LIMIT 1',
      [key, sqlTime(now)],
    );
    if (found === undefined) {
      return null;
    }
    const [row] = await manager.query<RawRow[]>(
      'SELECT id, app_id, message, payload FROM process_messages WHERE id = ?',
      [found['id']],
    );
    return row === undefined ? null : toMessage(row);
  }

  /** Removes one message; false when somebody else has received it. */
  async removeMessage(manager: EntityManager, id: number): Promise<boolean> {
    return (await change(manager, 'DELETE FROM process_messages WHERE id = ?', [id])) === 1;
  }

  /** Removes messages that nobody has received in time; returns how many. */
  async removeExpired(manager: EntityManager, now: Date, limit: number): Promise<number> {
    return change(
      manager,
      `DELETE FROM process_messages WHERE id IN (SELECT id FROM (
         SELECT id FROM process_messages WHERE expires_at <= ? ORDER BY expires_at LIMIT ?) AS old)`,
      [sqlTime(now), limit],
    );
  }
}

function toMessage(row: RawRow): MessageRow {
  return {
    id: toSafeInteger(row['id']),
    rootAppId: row['app_id'] as string,
    message: row['message'] as string,
    payload: JSON.parse(toStoredText(row['payload'])) as JsonObject,
  };
}

function cut(name: string): string {
  return Array.from(name.replace(/\p{Cs}/gu, '\ufffd'))
    .slice(0, NAME_MAX_LENGTH)
    .join('');
}
