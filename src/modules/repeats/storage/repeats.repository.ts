import { Injectable } from '@nestjs/common';
import { In, LessThan, type EntityManager } from 'typeorm';
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
