import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In, LessThan, type EntityManager } from 'typeorm';
import { isDuplicate } from '../../../database/driver-errors.js';
import { Table } from '../../../database/table.js';
import { ProcessRepeatEntity } from './process-repeat.entity.js';

/** What is stored for an Idempotency-Key: the JSON of the answer, byte by byte as it was sent. */
export type StoredAnswer = Pick<ProcessRepeatEntity, 'bodyHash' | 'response'>;

const REPEATS = new Table(ProcessRepeatEntity, {});
const ANSWER = REPEATS.select('bodyHash', 'response');

/** Answers kept for repeated calls. */
@Injectable()
export class RepeatsRepository {
  /** @param shard the same for all who ask for the key */
  async find(manager: EntityManager, keyHash: string, shard: number): Promise<StoredAnswer | null> {
    return ANSWER.first(manager, { keyHash, shard });
  }

  /** @throws QueryFailedError, a duplicate, when an equal call was first; it waits for one that is still running */
  async insert(
    manager: EntityManager,
    { keyHash, shard }: { keyHash: string; shard: number },
    answer: StoredAnswer,
    createdAt: Date,
  ): Promise<void> {
    await REPEATS.insert(manager, [{ keyHash, shard, ...answer, createdAt }]);
  }

  /**
   * Notes that something was done, in the transaction that does it. For work that is asked for in one shard and done in another, so that
   * it may be asked for again after a crash.
   * @returns false when it is noted already
   */
  async note(manager: EntityManager, name: string, shard: number, at: Date): Promise<boolean> {
    const place = { keyHash: hash('sha256', name), shard };
    try {
      await this.insert(manager, place, { bodyHash: '', response: 'null' }, at);
      return true;
    } catch (error) {
      if (isDuplicate(error)) {
        return false;
      }
      throw error;
    }
  }

  /** Whether something was noted. */
  async isNoted(manager: EntityManager, name: string, shard: number): Promise<boolean> {
    return (await this.find(manager, hash('sha256', name), shard)) !== null;
  }

  /** Removes answers of some shards that were stored before; returns how many. */
  async removeBefore(
    manager: EntityManager,
    shards: readonly number[],
    time: Date,
    limit: number,
  ): Promise<number> {
    const found = { order: { createdAt: 'ASC' }, limit } as const;
    return REPEATS.deleteFirst(
      manager,
      'keyHash',
      { createdAt: LessThan(time), shard: In([...shards]) },
      found,
    );
  }
}
