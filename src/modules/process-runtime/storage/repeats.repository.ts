import { Injectable } from '@nestjs/common';
import { LessThan, type EntityManager } from 'typeorm';
import { Table } from '../../../database/table.js';
import { ProcessRepeatEntity } from './process-repeat.entity.js';

/** What is stored for an Idempotency-Key: the JSON of the answer, byte by byte as it was sent. */
export type StoredAnswer = Pick<ProcessRepeatEntity, 'bodyHash' | 'response'>;

const REPEATS = new Table(ProcessRepeatEntity);
const ANSWER = REPEATS.select('bodyHash', 'response');

/** Answers kept for repeated calls. */
@Injectable()
export class RepeatsRepository {
  async find(manager: EntityManager, keyHash: string): Promise<StoredAnswer | null> {
    return ANSWER.first(manager, { keyHash });
  }

  /** @throws QueryFailedError, a duplicate, when an equal call was first; it waits for one that is still running */
  async insert(
    manager: EntityManager,
    keyHash: string,
    answer: StoredAnswer,
    createdAt: Date,
  ): Promise<void> {
    await REPEATS.insert(manager, [{ keyHash, ...answer, createdAt }]);
  }

  /** Removes answers that were stored before; returns how many. */
  async removeBefore(manager: EntityManager, time: Date, limit: number): Promise<number> {
    const found = { order: { createdAt: 'ASC' }, limit } as const;
    return REPEATS.deleteFirst(manager, 'keyHash', { createdAt: LessThan(time) }, found);
  }
}
