import { Injectable } from '@nestjs/common';
import { In, LessThan } from 'typeorm';
import type { Sender } from '../store/groups/step-transaction.js';
import { Table } from '../store/tables/table.js';
import { ProcessRepeatEntity } from './storage/process-repeat.entity.js';
import { hash } from 'node:crypto';
import { asReplay } from '../platform/http/replays.js';
import { Database } from '../store/database.js';
import { isDuplicate } from '../store/connection/driver-errors.js';
import { shardOfHash } from '../store/shards.js';
import type { RepeatKey } from './idempotency-key.dto.js';
import { IdempotencyKeyReusedError, RepeatTakenError } from './repeats.errors.js';
import { processLimits } from '../runtime/process.limits.js';

/** What is stored for an Idempotency-Key: the JSON of the answer, byte by byte as it was sent. */
type StoredAnswer = Pick<ProcessRepeatEntity, 'bodyHash' | 'response'>;

const REPEATS = new Table(ProcessRepeatEntity, {});
const ANSWER = REPEATS.select('bodyHash', 'response');

const DAY_MS = 86_400_000;

/** Answers kept for repeated calls, and notes of what was done once. Each is in the shard of what it is about. */
@Injectable()
export class RepeatsService {
  constructor(private readonly database: Database) {}

  /** What was kept before this moment means nothing any more. */
  oldest(now: Date): Date {
    return new Date(now.getTime() - processLimits.idempotencyDays * DAY_MS);
  }

  /**
   * Does work once for all calls with one key, in the shard of the key (`shardOfHash`). Not inside of a transaction.
   * @param work keeps its answer, with `keep`
   * @returns what the work returned, or the answer that an earlier call has kept
   * @throws IdempotencyKeyReusedError when the earlier call had another body, and whatever the work throws
   */
  async once<Answer extends object>(repeat: RepeatKey, work: () => Promise<Answer>): Promise<Answer> {
    // Before anything is done. Of calls at the same time none finds anything: then the unique index decides.
    const early = await this.stored<Answer>(repeat);
    if (early !== undefined) {
      return early;
    }
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RepeatTakenError)) {
        throw error;
      }
    }
    // Removed for its age between the two statements: then this is a first call again.
    return (await this.stored<Answer>(repeat)) ?? work();
  }

  /** @param shard the same for all who ask for the key */
  async find(manager: Sender, { keyHash }: RepeatKey, shard: number): Promise<StoredAnswer | null> {
    return ANSWER.first(manager, { keyHash, shard });
  }

  /** The answer kept for a call. @throws IdempotencyKeyReusedError when that had another body */
  answer(stored: StoredAnswer, { bodyHash }: RepeatKey): unknown {
    if (stored.bodyHash !== bodyHash) {
      throw new IdempotencyKeyReusedError();
    }
    // Written again it is the text that was stored: JavaScript keeps the order of names.
    return asReplay(JSON.parse(stored.response) as object);
  }

  /**
   * Keeps an answer in the transaction of what it tells of. First, so that a call that comes second waits here and has written nothing yet.
   * @throws RepeatTakenError when an equal call was first
   */
  async keep(
    manager: Sender,
    { keyHash, bodyHash }: RepeatKey,
    { shard, answer, now }: { shard: number; answer: object; now: Date },
  ): Promise<void> {
    const stored = { bodyHash, response: JSON.stringify(answer) };
    if (!(await this.insert(manager, { keyHash, shard }, stored, now))) {
      throw new RepeatTakenError();
    }
  }

  /**
   * Notes that something was done, in the transaction that does it. For work that is asked for in one shard and done in another, so that
   * it may be asked for again after a crash.
   * @returns false when it is noted already
   */
  async note(manager: Sender, name: string, shard: number, at: Date): Promise<boolean> {
    const nothing = { bodyHash: '', response: 'null' };
    return this.insert(manager, { keyHash: hash('sha256', name), shard }, nothing, at);
  }

  /** Whether something was noted. */
  async isNoted(manager: Sender, name: string, shard: number): Promise<boolean> {
    return (await ANSWER.first(manager, { keyHash: hash('sha256', name), shard })) !== null;
  }

  /** Removes answers of some shards that were stored before; returns how many. */
  async removeBefore(manager: Sender, shards: readonly number[], time: Date, limit: number): Promise<number> {
    const old = { createdAt: LessThan(time), shard: In([...shards]) };
    return REPEATS.deleteFirst(manager, 'keyHash', old, { order: { createdAt: 'ASC' }, limit });
  }

  private async stored<Answer extends object>(repeat: RepeatKey): Promise<Answer | undefined> {
    const shard = shardOfHash(repeat.keyHash);
    const stored = await this.database.read((manager) => this.find(manager, repeat, shard));
    return stored === null ? undefined : (this.answer(stored, repeat) as Answer);
  }

  /** @returns false when there is one; waits for one that is being stored */
  private async insert(
    manager: Sender,
    place: { keyHash: string; shard: number },
    answer: StoredAnswer,
    now: Date,
  ): Promise<boolean> {
    try {
      await REPEATS.insert(manager, [{ ...place, ...answer, createdAt: now }]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) {
        return false;
      }
      throw error;
    }
  }
}
