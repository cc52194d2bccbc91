import type { ServerResponse } from 'node:http';
import type { Limit } from '../../config/env.js';
import { RateLimitExceededError } from './rate-limit.errors.js';
import { tellRateLimit } from './rate-limit-headers.js';
import type { Counted, SharedCount } from './shared-count.js';

const WINDOW_MS = 60_000;
const SECOND_MS = 1_000;
const MAX_KEYS = 100_000;

interface Minute {
  /** On the clock of `performance.now()`. */
  end: number;
  count: number;
}

/**
 * So many requests a minute for each key from its first request on, counted by all replicas where they share a Redis that answers, otherwise in
 * this process. The number of keys here is bounded: when it is reached, the key whose minute began first is forgotten.
 */
export class RateLimiter {
  /** Insertion order is the order in which minutes began. */
  private readonly minutes = new Map<string, Minute>();
  /** Goes on where it stopped: starting anew would pass over every key that was deleted before. */
  private readonly oldest = this.minutes.keys();

  /**
   * @param limit requests a minute of one key; 0 is no limit
   * @param policy name of the limit in the headers of answers
   * @param shared counts for all replicas
   * @param maxKeys keys counted at one time
   */
  constructor(
    private readonly limit: Limit,
    private readonly policy = '',
    private readonly shared?: SharedCount,
    private readonly maxKeys = MAX_KEYS,
  ) {}

  /**
   * Counts one request.
   * @param response is told of the limit and what is left of it
   * @returns undefined when it was counted here, otherwise when it was counted in Redis
   * @throws RateLimitExceededError when the key has had its requests of the minute
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
      tellRateLimit(response, this.policy, { most, left: Math.max(0, most - count), seconds });
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
      this.forgetOldest();
    }
    const minute = { end: now + WINDOW_MS, count: 0 };
    this.minutes.set(key, minute);
    return minute;
  }

  private forgetOldest(): void {
    const { value: oldest } = this.oldest.next();
    if (oldest !== undefined) {
      this.minutes.delete(oldest);
    }
  }
}
