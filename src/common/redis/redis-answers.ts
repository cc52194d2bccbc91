import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../logging/log.js';
import { within } from '../deadline.js';
import type { RedisClient } from './redis-connections.js';
import { REDIS_REPLY_CODES, redisErrorCode } from './redis-error-code.js';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A proof that takes longer is tried again. */
const LONGEST_PROOF_MS = 30_000;

const TIMEOUT = 'TIMEOUT';

class RedisSilentError extends Error {
  readonly code = TIMEOUT;
}

/** How somebody finds out whether Redis does what is wanted of it, and what is told of it. */
export interface RedisWish {
  /** Longest wait for an answer, milliseconds. */
  timeoutMs: number;
  /** Has Redis do it; rejects when it does not. */
  prove: () => Promise<unknown>;
  /** Is told once that it does not, with the code of the error, and once that it does again. */
  log?: Log | undefined;
  refuses: string;
  doesAgain: string;
}

/**
 * Whether Redis does what is wanted of it. One that answers with errors (no memory left, a right that is missing, too few replicas, a slot
 * of a cluster that is lost) is of no more use than one that says nothing. After either nobody counts on Redis, or waits for it, until it
 * has proved that it does what is wanted.
 */
export class RedisAnswers {
  /** How often Redis did not do what it was asked, by code. */
  readonly failures = new Map([TIMEOUT, ...REDIS_REPLY_CODES].map((code) => [code, 0]));
  private readonly closing = new AbortController();
  private isRefusing = false;
  private pauseMs = FIRST_PAUSE_MS;
  /** On the clock of `performance.now()`. */
  private doesSince = Number.NEGATIVE_INFINITY;

  constructor(
    readonly client: RedisClient,
    private readonly wish: RedisWish,
  ) {}

  /** Whether Redis does what is wanted, as far as this replica knows. */
  get isReady(): boolean {
    return this.isConnected && !this.isRefusing;
  }

  private get isConnected(): boolean {
    return this.client.status === 'ready';
  }

  /**
   * Sends commands, but not to a Redis that is away, silent or refuses.
   * @throws when Redis does not answer, or answers with an error
   */
  ask<T>(send: (client: RedisClient) => Promise<T>): Promise<T> {
    return this.isReady ? this.inTime(send(this.client)) : Promise.reject(new Error('redis is away'));
  }

  /**
   * Waits for an answer.
   * @throws what Redis answers, or that it did not in time
   */
  async inTime<T>(answer: Promise<T>): Promise<T> {
    try {
      return await within(this.wish.timeoutMs, answer, async () => {
        // After a busy moment of this process the answer can be there already, unread; it goes before the error then.
        await nextTurn();
        throw new RedisSilentError('redis did not answer');
      });
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  /** Redis was asked, and did not do it. */
  failed(error: unknown): void {
    const errorCode = redisErrorCode(error);
    this.failures.set(errorCode, (this.failures.get(errorCode) ?? 0) + 1);
    if (this.isRefusing || this.closing.signal.aborted) {
      return;
    }
    this.isRefusing = true;
    // Of a connection that is lost the log tells elsewhere.
    const isTold = this.isConnected;
    if (isTold) {
      this.wish.log?.warn(this.wish.refuses, { errorCode });
    }
    void this.recover(isTold);
  }

  close(): void {
    this.closing.abort();
  }

  /** Waits until Redis does what is wanted, or this replica stops. */
  private async recover(isTold: boolean): Promise<void> {
    const { signal } = this.closing;
    // A Redis that gives its proof and then fails at once has to be asked less and less often.
    const isOften = performance.now() - this.doesSince < 2 * this.pauseMs;
    this.pauseMs = isOften ? Math.min(LONGEST_PAUSE_MS, 2 * this.pauseMs) : FIRST_PAUSE_MS;
    do {
      await sleep(this.pauseMs, undefined, { signal }).catch(() => undefined);
    } while (!signal.aborted && !(await this.proves()));
    if (!signal.aborted) {
      this.doesSince = performance.now();
      this.isRefusing = false;
      if (isTold) {
        this.wish.log?.info(this.wish.doesAgain);
      }
    }
  }

  private proves(): Promise<boolean> {
    const proof = this.wish.prove().then(
      () => true,
      () => false,
    );
    return within(LONGEST_PROOF_MS, proof, () => false);
  }
}
