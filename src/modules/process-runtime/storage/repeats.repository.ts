import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { RawRow } from '../../../database/raw-row.js';
import { toStoredText } from '../../../database/stored-text.js';
import { change, insertRows, sqlText, sqlTime } from './sql.js';

/** What is stored for an Idempotency-Key. */
export interface StoredAnswer {
  bodyHash: string;
  /** JSON, byte by byte as it was sent. */
  response: string;
}

/** Answers kept for repeated calls. */
@Injectable()
export class RepeatsRepository {
  async find(manager: EntityManager, keyHash: string): Promise<StoredAnswer | null> {
    const [row] = await manager.query<RawRow[]>(
      'SELECT body_hash, response FROM process_repeats WHERE key_hash = ?',
      [keyHash],
    );
    return row === undefined
      ? null
      : { bodyHash: row['body_hash'] as string, response: toStoredText(row['response']) };
  }

  /** @throws QueryFailedError, a duplicate, when an equal call was first; it waits for one that is still running */
  async insert(
    manager: EntityManager,
    keyHash: string,
    { bodyHash, response }: StoredAnswer,
    now: Date,
  ): Promise<void> {
    const row = {
      key_hash: keyHash,
      body_hash: bodyHash,
      response: sqlText(response),
      created_at: sqlTime(now),
    };
    await insertRows(manager, 'process_repeats', [row]);
  }

  /** Removes answers that were stored before; returns how many. */
  async removeBefore(manager: EntityManager, time: Date, limit: number): Promise<number> {
    return change(
      manager,
      `DELETE FROM process_repeats WHERE key_hash IN (SELECT key_hash FROM (
         SELECT key_hash FROM process_repeats WHERE created_at < ? ORDER BY created_at LIMIT ?) AS old)`,
      [sqlTime(time), limit],
    );
  }
}
