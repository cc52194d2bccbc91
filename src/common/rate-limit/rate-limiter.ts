import type { ServerResponse } from 'node:http';
import type { Limit } from '../../config/env.js';
import { RateLimitExceededError } from './rate-limit.errors.js';
import { tellRateLimit } from './rate-limit-headers.js';
import type { SharedCounts, SharedMinute } from './shared-counts.js';

const WINDOW_MS = 60_000;
const SECOND_MS = 1_000;
const MAX_KEYS = 100_000;

/**
 * So many requests a minute for each key, counted in this process, or by all replicas, from the first request of a key on. The number of
 * keys is bounded: when it is reached, the key whose minute began first in this process is forgotten.
 */
export class RateLimiter {
  /** Insertion order is the order in which minutes began here; one that began before in another replica ends sooner. */
  private readonly minutes = new Map<string, SharedMinute>();
  /** Goes on where it stopped: starting anew would pass over every key that was deleted before. */
  private readonly oldest = this.minutes.keys();

  /**
   * @param limit requests a minute of one key; 0 is no limit
   * @param maxKeys keys counted at one time
   * @param shared lets other replicas count with this one
   * @param policy name of the limit in the headers of answers
   */
  constructor(
    private readonly limit: Limit,
    private readonly maxKeys = MAX_KEYS,
    private readonly shared?: SharedCounts,
    private readonly policy = '',
  ) {}

  /**
   * Counts one request.
   * @param response is told of the limit and what is left of it
   * @throws RateLimitExceededError when the key has had its requests of the minute
   */
  consume(key: string, response?: ServerResponse): void {
    if (this.limit.most === 0) {
      return;
    }
    const now = performance.now();
    const minute = this.minuteOf(key, now);
    minute.count += 1;
    // Whole milliseconds first: a sum and a difference of fractions can be a little more than a minute.
    const seconds = Math.max(1, Math.ceil(Math.round(minute.end - now) / SECOND_MS));
    if (response !== undefined) {
      const { most } = this.limit;
      tellRateLimit(response, this.policy, { most, left: Math.max(0, most - minute.count), seconds });
    }
    if (minute.count > this.limit.most) {
      throw new RateLimitExceededError(this.limit, seconds);
    }
    // Refusals are not told: others know of the limit by then.
    this.shared?.counted(`${this.limit.setting} ${key}`, minute);
  }

  private minuteOf(key: string, now: number): SharedMinute {
    const known = this.minutes.get(key);
    if (known !== undefined && known.end > now) {
      return known;
    }
    this.minutes.delete(key);
    if (this.minutes.size >= this.maxKeys) {
      this.forgetOldest();
    }
    const minute = { end: now + WINDOW_MS, count: 0, untold: 0 };
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
