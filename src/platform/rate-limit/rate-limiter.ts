import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { ServerResponse } from 'node:http';
import type { Limit } from '../config/env.js';
import type { Shared } from '../redis/redis.service.js';
import { RateLimitExceededError } from './rate-limit.errors.js';

const WINDOW_SECONDS = 60;

/** Requests of a key in its minute, of all replicas. */
interface Counted {
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

  /** Counts one request. @throws when Redis does not answer */
  count(key: string): Promise<Counted> {
    const name = this.shared.keyOf('rate', `${this.limit.name} ${key}`);
    return this.shared.redis.ask(async () => {
      try {
        const { consumedPoints, msBeforeNext } = await this.limiter.consume(name);
        return { count: consumedPoints, leftMs: msBeforeNext };
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) {
          return { count: this.limit.most + 1, leftMs: refusal.msBeforeNext };
        }
        throw refusal;
      }
    });
  }
}

/** An answer can be subject to several limits. */
function add(response: ServerResponse, name: string, item: string): void {
  const told = response.getHeader(name);
  response.setHeader(name, typeof told === 'string' ? `${told}, ${item}` : item);
}

const WINDOW_MS = 60_000;
const SECOND_MS = 1_000;
const MAX_KEYS = 100_000;

interface Minute {
  /** On the clock of `performance.now()`. */
  end: number;
  count: number;
}

/** So many requests a minute for each key, from its first on, of all replicas where Redis answers. */
export class RateLimiter {
  /** Insertion order is the order in which minutes began. */
  private readonly minutes = new Map<string, Minute>();
  /** Goes on where it stopped: starting anew would pass over every key that was deleted before. */
  private readonly oldest = this.minutes.keys();

  /**
   * @param limit requests a minute of one key; 0 is no limit
   * @param policy name of the limit in the headers of answers
   */
  constructor(
    private readonly limit: Limit,
    private readonly policy = '',
    private readonly shared?: SharedCount,
    private readonly maxKeys = MAX_KEYS,
  ) {}

  /**
   * Counts one request, and tells the response what is left.
   * @returns undefined when it was counted here, otherwise when it was counted in Redis
   * @throws RateLimitExceededError
   */
  consume(key: string, response?: ServerResponse): Promise<void> | undefined {
    if (this.limit.most === 0) {
      return undefined;
    }
    // Always here too: a Redis that was away or emptied must not give a caller more than this replica would.
    const here = this.countHere(key);
    if (this.shared?.isReady === true) {
      return this.shared
        .count(key)
        .catch(() => here)
        .then((together) => this.judge(together.count > here.count ? together : here, response));
    }
    this.judge(here, response);
    return undefined;
  }

  private judge({ count, leftMs }: Counted, response: ServerResponse | undefined): void {
    const { most } = this.limit;
    // Whole milliseconds first: a sum and a difference of fractions can be a little more than a minute.
    const seconds = Math.max(1, Math.ceil(Math.round(leftMs) / SECOND_MS));
    if (response !== undefined) {
      // draft-ietf-httpapi-ratelimit-headers-10, lists of RFC 9651.
      add(response, 'RateLimit-Policy', `"${this.policy}";q=${most};w=${WINDOW_SECONDS}`);
      add(response, 'RateLimit', `"${this.policy}";r=${Math.max(0, most - count)};t=${seconds}`);
    }
    if (count > most) {
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
      this.minutes.delete(this.oldest.next().value ?? '');
    }
    const minute = { end: now + WINDOW_MS, count: 0 };
    this.minutes.set(key, minute);
    return minute;
  }
}
