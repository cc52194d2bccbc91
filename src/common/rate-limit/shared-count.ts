import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Limit } from '../../config/env.js';
import type { Shared } from '../redis/redis.service.js';

const WINDOW_SECONDS = 60;

/** Requests of a key in its minute, of all replicas. */
export interface Counted {
  /** Above the limit it may be any number above it. */
  count: number;
  /** Milliseconds until the minute ends. */
  leftMs: number;
}

/** The requests of a minute that all replicas count together, in Redis. */
export class SharedCount {
  private readonly limiter: RateLimiterRedis;

  constructor(
    private readonly shared: Shared,
    private readonly limit: Limit,
  ) {
    this.limiter = new RateLimiterRedis({
      storeClient: shared.redis.client,
      keyPrefix: '',
      points: limit.most,
      duration: WINDOW_SECONDS,
      // Who is above the limit costs Redis nothing more.
      inMemoryBlockOnConsumed: limit.most,
    });
  }

  /** Whether Redis counts, as far as this replica knows. */
  get isReady(): boolean {
    return this.shared.redis.isReady;
  }

  /**
   * Counts one request.
   * @throws when Redis does not answer
   */
  count(key: string): Promise<Counted> {
    const name = this.shared.keyOf('rate', `${this.limit.name} ${key}`);
    return this.shared.redis.ask(async () => {
      const { answer, isRefused } = await this.consume(name);
      const count = isRefused ? this.limit.most + 1 : answer.consumedPoints;
      return { count, leftMs: answer.msBeforeNext };
    });
  }

  private async consume(name: string): Promise<{ answer: RateLimiterRes; isRefused: boolean }> {
    try {
      return { answer: await this.limiter.consume(name), isRefused: false };
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) {
        return { answer: refusal, isRefused: true };
      }
      throw refusal;
    }
  }
}
