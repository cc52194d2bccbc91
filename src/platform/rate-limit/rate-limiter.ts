import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { ServerResponse } from 'node:http';
import type { Limit } from '../config/env.js';
import type { Shared } from '../redis/redis.service.js';
import { RateLimitExceededError } from './rate-limit.errors.js';

const WINDOW_SECONDS = 60;
const WINDOW_MS = 60_000;
const SECOND_MS = 1_000;
const MAX_KEYS = 100_000;

/** Number of requests of a key in its current minute. */
interface Counted {
  /** Not exact once it is above the limit. */
  count: number;
  /** Milliseconds until the minute ends. */
  leftMs: number;
}

/** Counts requests per minute of all replicas in Redis. */
export class SharedCount {
  private readonly limiter: RateLimiterRedis;

  constructor(
    private readonly shared: Shared,
    private readonly limit: Limit,
  ) {
    this.limiter = new RateLimiterRedis({
      storeClient: shared.redis.client,
      keyPrefix: '',
      points: limit.max,
      duration: WINDOW_SECONDS,
      // Requests of keys above the limit are not sent to Redis.
      inMemoryBlockOnConsumed: limit.max,
    });
  }

  /** Whether Redis is available, as far as this replica knows. */
  get isReady(): boolean {
    return this.shared.redis.isReady;
  }

  /** Counts one request. @throws when Redis does not answer */
  count(key: string): Promise<Counted> {
    const name = this.shared.keyOf('rate', `${this.limit.name} ${key}`);
    return this.shared.redis.run(async () => {
      try {
        const { consumedPoints, msBeforeNext } = await this.limiter.consume(name);
        return { count: consumedPoints, leftMs: msBeforeNext };
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) {
          return { count: this.limit.max + 1, leftMs: refusal.msBeforeNext };
        }
        throw refusal;
      }
    });
  }
}

/** Appends an item to a header, because a response can have several limits. */
function appendHeader(response: ServerResponse, name: string, item: string): void {
  const present = response.getHeader(name);
  response.setHeader(name, typeof present === 'string' ? `${present}, ${item}` : item);
}

interface Minute {
  /** On the clock of `performance.now()`. */
  end: number;
  count: number;
}

/** Limits requests per key. A key's minute begins with its first request. With Redis, all replicas count together. */
export class RateLimiter {
  /** In the order in which the minutes began. */
  private readonly minutes = new Map<string, Minute>();
  /** Continues where it stopped, because a new iterator would step over every deleted key again. */
  private readonly oldestKeys = this.minutes.keys();

  /**
   * @param limit requests per minute of one key; 0 means no limit
   * @param policy name of the limit in response headers
   */
  constructor(
    private readonly limit: Limit,
    private readonly policy = '',
    private readonly shared?: SharedCount,
    private readonly maxKeys = MAX_KEYS,
  ) {}

  /**
   * Counts one request, and sets the rate limit headers of the response.
   * @returns undefined when only this replica counts; otherwise a promise that resolves when Redis has counted the request
   * @throws RateLimitExceededError
   */
  consume(key: string, response?: ServerResponse): Promise<void> | undefined {
    if (this.limit.max === 0) {
      return undefined;
    }
    // This replica always counts too, so that a Redis that was unavailable or emptied does not let more requests through.
    const here = this.countHere(key);
    if (this.shared?.isReady === true) {
      return this.shared
        .count(key)
        .catch(() => here)
        .then((together) => this.enforce(together.count > here.count ? together : here, response));
    }
    this.enforce(here, response);
    return undefined;
  }

  private enforce({ count, leftMs }: Counted, response: ServerResponse | undefined): void {
    const { max } = this.limit;
    // Rounds milliseconds first, because floating-point errors can make the remaining time slightly longer than a minute.
    const seconds = Math.max(1, Math.ceil(Math.round(leftMs) / SECOND_MS));
    if (response !== undefined) {
      // draft-ietf-httpapi-ratelimit-headers-10, lists of RFC 9651.
      appendHeader(response, 'RateLimit-Policy', `"${this.policy}";q=${max};w=${WINDOW_SECONDS}`);
      appendHeader(response, 'RateLimit', `"${this.policy}";r=${Math.max(0, max - count)};t=${seconds}`);
    }
    if (count > max) {
      throw new RateLimitExceededError(this.limit, seconds);
    }
  }

  private countHere(key: string): Counted {
    const now = performance.now();
    const minute = this.minuteOf(key, now);
    minute.count += 1;
    return { count: minute.count, leftMs: minute.end - now };
  }

  private minuteOf(key: string, now: number): Minute {
    const known = this.minutes.get(key);
    if (known !== undefined && known.end > now) {
      return known;
    }
    this.minutes.delete(key);
    if (this.minutes.size >= this.maxKeys) {
      this.minutes.delete(this.oldestKeys.next().value ?? '');
    }
    const minute = { end: now + WINDOW_MS, count: 0 };
    this.minutes.set(key, minute);
    return minute;
  }
}
