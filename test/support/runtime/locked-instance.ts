import { setTimeout } from 'node:timers/promises';
import { Database } from '../../../src/database/database.js';
import { shardOfUuid } from '../../../src/database/shards.js';
import type { TestApp } from '../app.js';

const LOCKED_MS = 500;

/** Sends calls while an instance is locked by a transaction that changes nothing, so that all of them come before any can do anything. */
export async function whileLocked<T>(app: TestApp, uuid: string, send: () => Promise<T>[]): Promise<T[]> {
  const database = app.nest.get(Database);
  const lock = database.isEmbedded ? '' : ' FOR UPDATE';
  const calls = await database.write(async (manager) => {
    const row = 'SELECT id FROM process_instances WHERE uuid = ? AND shard = ?';
    await manager.query(`${row}${lock}`, [uuid, shardOfUuid(uuid)]);
    const sent = send();
    await setTimeout(LOCKED_MS);
    return { sent };
  });
  return Promise.all(calls.sent);
}
