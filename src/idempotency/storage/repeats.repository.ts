import { In, LessThan } from 'typeorm';
import { isDuplicate } from '../../store/connection/driver-errors.js';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { Table } from '../../store/tables/table.js';
import { ProcessRepeatEntity } from './process-repeat.entity.js';

/** Hash of the request body, and the response as the JSON text that was sent. */
export type StoredAnswer = Pick<ProcessRepeatEntity, 'bodyHash' | 'response'>;

/** Key and shard of an entry. */
type RepeatPlace = Pick<ProcessRepeatEntity, 'keyHash' | 'shard'>;

const REPEATS = new Table(ProcessRepeatEntity, {});
const ANSWER = REPEATS.select('bodyHash', 'response');

/** Reads and writes the entries of repeated requests. */
export const Repeats = {
  async find(executor: SqlExecutor, { keyHash, shard }: RepeatPlace): Promise<StoredAnswer | null> {
    return ANSWER.first(executor, { keyHash, shard });
  },

  /** Inserts an entry, waiting for a concurrent insert of the same key. @returns false when the key exists */
  async insert(executor: SqlExecutor, row: ProcessRepeatEntity): Promise<boolean> {
    try {
      await REPEATS.insert(executor, [row]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) {
        return false;
      }
      throw error;
    }
  },

  /** Removes entries stored before a time, at most `limit`. @returns how many it removed */
  async removeBefore(
    executor: SqlExecutor,
    shards: readonly number[],
    time: Date,
    limit: number,
  ): Promise<number> {
    const old = { createdAt: LessThan(time), shard: In([...shards]) };
    return REPEATS.deleteFirst(executor, 'keyHash', old, { order: { createdAt: 'ASC' }, limit });
  },
};
