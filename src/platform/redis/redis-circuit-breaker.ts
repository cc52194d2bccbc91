import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Log } from '../observability/logging/log.js';
import { within } from '../concurrency/deadline.js';
import { nextIteration } from '#engine/support';
import { REDIS_REPLY_CODES, type RedisClient, redisErrorCode } from './redis-connections.js';
import { redisLimits } from './redis.limits.js';

const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const VERIFY_TIMEOUT_MS = 30_000;

const TIMEOUT = 'TIMEOUT';

/**
 * Circuit breaker for Redis commands. After an error or timeout, commands fail immediately until a verification succeeds.
 */
export class RedisCircuitBreaker {
  private readonly failures = new Counter({
    name: 'svc_redis_shared_failures_total',
    help: 'Failed Redis commands for shared counts and notifications between replicas, by code: TIMEOUT, or the first word of the error reply. Absent without REDIS_URL.',
    labelNames: ['code'],
    registers: [],
  });

  private readonly timeoutMs = redisLimits.timeoutMs;
  private readonly closing = new AbortController();
  private isOpen = false;
  private pauseMs = MIN_PAUSE_MS;
  /** When the circuit was closed last, on the clock of `performance.now()`. */
  private closedAt = Number.NEGATIVE_INFINITY;

  /** @param verify sends the required commands; rejects when one fails */
  constructor(
    readonly client: RedisClient,
    private readonly verify: () => Promise<unknown>,
    private readonly log: Log | undefined,
  ) {
    [TIMEOUT, ...REDIS_REPLY_CODES].forEach((code) => this.failures.inc({ code }, 0));
  }

  /** Whether Redis is connected and commands succeed, as far as this replica knows. */
  get isReady(): boolean {
    return this.isConnected && !this.isOpen;
  }

  private get isConnected(): boolean {
    return this.client.status === 'ready';
  }

  /** Sends commands. @throws when Redis is unavailable, rejects a command, or does not answer in time */
  async run<T>(send: (client: RedisClient) => Promise<T>): Promise<T> {
    if (!this.isReady) {
      throw new Error('redis is unavailable');
    }
    try {
      return await within(this.timeoutMs, send(this.client), async () => {
        // If the event loop was busy, the answer may have arrived without being read. Read it before the call fails.
        await nextIteration();
        throw Object.assign(new Error('redis did not answer'), { code: TIMEOUT });
      });
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  /** Registers metrics of availability and failures. */
  registerMetrics(registry: Registry): void {
    const isReady = (): boolean => this.isReady;
    registry.registerMetric(
      new Gauge({
        name: 'svc_redis_shared_in_use',
        help: '1 while replicas share counts and notifications through Redis, 0 while this replica works alone because Redis is unavailable, silent or rejects commands. Absent without REDIS_URL.',
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
    if (this.isOpen || this.closing.signal.aborted) {
      return;
    }
    this.isOpen = true;
    // `RedisConnections` logs lost connections.
    const isLogged = this.isConnected;
    if (isLogged) {
      this.log?.warn('redis rejects or delays commands; this replica continues alone', { errorCode });
    }
    void this.recover(isLogged);
  }

  /** Verifies Redis repeatedly until it succeeds or this replica stops. */
  private async recover(isLogged: boolean): Promise<void> {
    const { signal } = this.closing;
    // Pauses grow when Redis passes the verification and fails again soon.
    const isFrequent = performance.now() - this.closedAt < 2 * this.pauseMs;
    this.pauseMs = isFrequent ? Math.min(MAX_PAUSE_MS, 2 * this.pauseMs) : MIN_PAUSE_MS;
    do {
      await sleep(this.pauseMs, undefined, { signal }).catch(() => undefined);
    } while (!signal.aborted && !(await this.isVerified()));
    if (!signal.aborted) {
      this.closedAt = performance.now();
      this.isOpen = false;
      if (isLogged) {
        this.log?.info('redis accepts commands again');
      }
    }
  }

  private isVerified(): Promise<boolean> {
    const verified = this.verify().then(
      () => true,
      () => false,
    );
    return within(VERIFY_TIMEOUT_MS, verified, () => false);
  }
}
