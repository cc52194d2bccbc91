import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Log } from '../observability/logging/log.js';
import { within } from '../concurrency/deadline.js';
import { REDIS_REPLY_CODES, type RedisClient, redisErrorCode } from './redis-connections.js';
import { redisLimits } from './redis.limits.js';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A proof that takes longer is tried again. */
const LONGEST_PROOF_MS = 30_000;

const TIMEOUT = 'TIMEOUT';

/**
 * Whether Redis does what is wanted of it. After an error or a silence nobody counts on Redis, or waits for
 * it, until it has proved that it does.
 */
export class RedisAnswers {
  private readonly failures = new Counter({
    name: 'svc_redis_shared_failures_total',
    help: 'How often Redis did not do what it was asked where it lets replicas count together and tell each other, by code: TIMEOUT, or the first word of its answer. None without REDIS_URL.',
    labelNames: ['code'],
    registers: [],
  });

  private readonly timeoutMs = redisLimits.timeoutMs;
  private readonly closing = new AbortController();
  private isRefusing = false;
  private pauseMs = FIRST_PAUSE_MS;
  /** On the clock of `performance.now()`. */
  private doesSince = Number.NEGATIVE_INFINITY;

  /** @param prove has Redis do what is wanted; rejects when it does not */
  constructor(
    readonly client: RedisClient,
    private readonly prove: () => Promise<unknown>,
    private readonly log: Log | undefined,
  ) {
    [TIMEOUT, ...REDIS_REPLY_CODES].forEach((code) => this.failures.inc({ code }, 0));
  }

  /** Whether Redis does what is wanted, as far as this replica knows. */
  get isReady(): boolean {
    return this.isConnected && !this.isRefusing;
  }

  private get isConnected(): boolean {
    return this.client.status === 'ready';
  }

  /** Sends commands. @throws when Redis is away, refuses, or does not answer in time */
  async ask<T>(send: (client: RedisClient) => Promise<T>): Promise<T> {
    if (!this.isReady) {
      throw new Error('redis is away');
    }
    try {
      return await within(this.timeoutMs, send(this.client), async () => {
        // After a busy moment of this process the answer can be there already, unread; it goes before the error then.
        await nextTurn();
        throw Object.assign(new Error('redis did not answer'), { code: TIMEOUT });
      });
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  /** Shows whether Redis does what is wanted of it, and how often it did not. */
  showIn(registry: Registry): void {
    const isReady = (): boolean => this.isReady;
    registry.registerMetric(
      new Gauge({
        name: 'svc_redis_shared_in_use',
        help: '1 while Redis lets replicas count together and tell each other, 0 while this replica goes on by itself because Redis is away, silent or refuses. None without REDIS_URL.',
        registers: [],
        collect() {
          this.set(isReady() ? 1 : 0);
        },
      }),
    );
    registry.registerMetric(this.failures);
  }

  close(): void {
    this.closing.abort();
  }

  private failed(error: unknown): void {
    const errorCode = redisErrorCode(error);
    this.failures.inc({ code: errorCode });
    if (this.isRefusing || this.closing.signal.aborted) {
      return;
    }
    this.isRefusing = true;
    // Of a connection that is lost the log tells elsewhere.
    const isTold = this.isConnected;
    if (isTold) {
      this.log?.warn('redis shares nothing: this replica goes on by itself', { errorCode });
    }
    void this.recover(isTold);
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
        this.log?.info('redis shares again');
      }
    }
  }

  private proves(): Promise<boolean> {
    const proof = this.prove().then(
      () => true,
      () => false,
    );
    return within(LONGEST_PROOF_MS, proof, () => false);
  }
}
