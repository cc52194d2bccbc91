import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../common/logging/log.js';
import type { RedisClient } from '../../../common/redis/redis-connections.js';
import { REDIS_REPLY_CODES, redisErrorCode } from '../../../common/redis/redis-error-code.js';
import { within } from '../../../common/within.js';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A proof that takes longer is tried again. */
const LONGEST_PROOF_MS = 30_000;

const TIMEOUT = 'TIMEOUT';

class RedisSilentError extends Error {
  readonly code = TIMEOUT;
}

/**
 * Whether Redis does what the queues need. One that answers with errors (no memory left, a right that is missing, too few replicas, a slot
 * of a cluster that is lost) hands out no job, as one that says nothing. After either nobody counts on Redis until it takes a job again.
 */
export class BrokerAnswers {
  /** How often Redis did not do what it was asked, by code. */
  readonly failures = new Map([TIMEOUT, ...REDIS_REPLY_CODES].map((code) => [code, 0]));
  private readonly closing = new AbortController();
  private isRefusing = false;
  private pauseMs = FIRST_PAUSE_MS;
  /** On the clock of `performance.now()`. */
  private takesSince = Number.NEGATIVE_INFINITY;

  /**
   * @param timeoutMs longest wait for an answer
   * @param prove lets Redis take a job that nobody runs; rejects when it does not
   */
  constructor(
    private readonly client: RedisClient,
    private readonly timeoutMs: number,
    private readonly prove: () => Promise<unknown>,
    private readonly log: Log,
  ) {}

  private get isConnected(): boolean {
    return this.client.status === 'ready';
  }

  /** Whether Redis hands out jobs, as far as this replica knows. */
  get isReady(): boolean {
    return this.isConnected && !this.isRefusing;
  }

  /**
   * Waits for an answer.
   * @throws what Redis answers, or that it did not in time
   */
  async inTime<T>(answer: Promise<T>): Promise<T> {
    try {
      return await within(this.timeoutMs, answer, () => {
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
      this.log.warn('redis hands out no background jobs: this replica looks into the table', { errorCode });
    }
    void this.recover(isTold);
  }

  close(): void {
    this.closing.abort();
  }

  /** Waits until Redis takes a job, or this replica stops. */
  private async recover(isTold: boolean): Promise<void> {
    const { signal } = this.closing;
    // A Redis that takes a job and then fails at once has to be asked less and less often.
    const isOften = performance.now() - this.takesSince < 2 * this.pauseMs;
    this.pauseMs = isOften ? Math.min(LONGEST_PAUSE_MS, 2 * this.pauseMs) : FIRST_PAUSE_MS;
    do {
      await sleep(this.pauseMs, undefined, { signal }).catch(() => undefined);
    } while (!signal.aborted && !(await this.takes()));
    if (!signal.aborted) {
      this.takesSince = performance.now();
      this.isRefusing = false;
      if (isTold) {
        this.log.info('redis hands out background jobs again');
      }
    }
  }

  private takes(): Promise<boolean> {
    const proof = this.prove().then(
      () => true,
      () => false,
    );
    return within(LONGEST_PROOF_MS, proof, () => false);
  }
}
