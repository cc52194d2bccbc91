import { Injectable } from '@nestjs/common';
import type { SqlExecutor } from '../store/groups/shared-transaction.js';
import { Repeats, type StoredAnswer } from './storage/repeats.repository.js';
import { hash } from 'node:crypto';
import { asReplay } from '../platform/http/replays.js';
import { Database } from '../store/database.js';
import { shardOfHash } from '../store/shards.js';
import type { RepeatKey } from './idempotency-key.dto.js';
import { IdempotencyKeyReusedError, RepeatTakenError } from './repeats.errors.js';

/** Milliseconds for which the answer to an Idempotency-Key is stored: 7 days. */
const STORED_MS = 604_800_000;

/** Stores responses for repeated requests, and markers of work that must happen only once, in the shard of their subject. */
@Injectable()
export class RepeatsService {
  constructor(private readonly database: Database) {}

  /** Returns the time before which entries have expired. */
  oldest(now: Date): Date {
    return new Date(now.getTime() - STORED_MS);
  }

  /**
   * Runs work once for all requests with the same key, in the shard of the key (`shardOfHash`). Call it outside transactions.
   * @param work must store its answer with `keep`
   * @returns the result of the work, or the answer that an earlier request stored
   * @throws IdempotencyKeyReusedError when the earlier request had a different body, and any error of the work
   */
  async once<Answer extends object>(repeat: RepeatKey, work: () => Promise<Answer>): Promise<Answer> {
    // Concurrent requests all find nothing here; for them, the unique index decides.
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
    // The entry may expire between the two statements. Then this is a first request again.
    return (await this.stored<Answer>(repeat)) ?? work();
  }

  /** Finds the stored answer. @param shard must be the same for all requests with this key */
  async find(executor: SqlExecutor, { keyHash }: RepeatKey, shard: number): Promise<StoredAnswer | null> {
    return Repeats.find(executor, { keyHash, shard });
  }

  /** Returns the stored answer. @throws IdempotencyKeyReusedError when the body differs from that of the first request */
  answer(stored: StoredAnswer, { bodyHash }: RepeatKey): unknown {
    if (stored.bodyHash !== bodyHash) {
      throw new IdempotencyKeyReusedError();
    }
    // Serializing it again yields the stored text, because JavaScript keeps the order of members.
    return asReplay(JSON.parse(stored.response) as object);
  }

  /**
   * Stores an answer in the transaction of its effect. Call it first, so that a concurrent repetition waits here before it writes anything,
   * unless the transaction holds a lock that all requests with this key need before they look for the answer with `find`.
   * @throws RepeatTakenError when another request with this key came first
   */
  async keep(
    executor: SqlExecutor,
    { keyHash, bodyHash }: RepeatKey,
    { shard, answer, now }: { shard: number; answer: object; now: Date },
  ): Promise<void> {
    const stored = { bodyHash, response: JSON.stringify(answer) };
    if (!(await Repeats.insert(executor, { keyHash, shard, ...stored, createdAt: now }))) {
      throw new RepeatTakenError();
    }
  }

  /**
   * Marks work as done, in the transaction that does it. For work requested in one shard and done in another, so that the request can
   * be repeated after a crash.
   * @returns false when it is already marked
   */
  async note(executor: SqlExecutor, name: string, shard: number, at: Date): Promise<boolean> {
    const nothing = { bodyHash: '', response: 'null' };
    return Repeats.insert(executor, { keyHash: hash('sha256', name), shard, ...nothing, createdAt: at });
  }

  /** Returns whether `note` was called with this name. */
  async isNoted(executor: SqlExecutor, name: string, shard: number): Promise<boolean> {
    return (await Repeats.find(executor, { keyHash: hash('sha256', name), shard })) !== null;
  }

  /** Removes entries stored before a time, at most `limit`. @returns how many it removed */
  async removeBefore(
    executor: SqlExecutor,
    shards: readonly number[],
    time: Date,
    limit: number,
  ): Promise<number> {
    return Repeats.removeBefore(executor, shards, time, limit);
  }

  private async stored<Answer extends object>(repeat: RepeatKey): Promise<Answer | undefined> {
    const shard = shardOfHash(repeat.keyHash);
    const stored = await this.database.read((executor) => this.find(executor, repeat, shard));
    return stored === null ? undefined : (this.answer(stored, repeat) as Answer);
  }
}
