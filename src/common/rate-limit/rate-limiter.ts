import type { Limit } from '../../config/env.js';
import { RateLimitExceededError } from './rate-limit.errors.js';

const WINDOW_MS = 60_000;
const SECOND_MS = 1_000;
const MAX_KEYS = 100_000;

/** The minute of a key, and its requests so far. */
interface Minute {
  /** On the clock of `performance.now()`. */
  readonly end: number;
  count: number;
}

/**
 * So many requests a minute for each key, counted in this process from the first request of a key on. The number of
 * keys is bounded: when it is reached, the key whose minute ends soonest is forgotten.
 */
export class RateLimiter {
  /** Insertion order is the order of their ends. */
  private readonly minutes = new Map<string, Minute>();
  /** Goes on where it stopped: starting anew would pass over every key that was deleted before. */
  private readonly oldest = this.minutes.keys();

  /**
   * @param limit requests a minute of one key; 0 is no limit
   * @param maxKeys keys counted at one time
   */
  constructor(
    private readonly limit: Limit,
    private readonly maxKeys = MAX_KEYS,
  ) {}

  /**
   * Counts one request.
   * @throws RateLimitExceededError when the key has had its requests of the minute
   */
  consume(key: string): void {
    if (this.limit.most === 0) {
      return;
    }
    const now = performance.now();
    const minute = this.minuteOf(key, now);
    minute.count += 1;
    if (minute.count > this.limit.most) {
      throw new RateLimitExceededError(this.limit, Math.max(1, Math.ceil((minute.end - now) / SECOND_MS)));
    }
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
