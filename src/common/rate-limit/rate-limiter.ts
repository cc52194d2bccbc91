import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { RateLimitExceededError } from './rate-limit.errors.js';

const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1_000;
const MAX_KEYS = 100_000;

/**
 * So many requests a minute for each key, counted in this process from the first request of a key on. The number of
 * keys is bounded: when it is reached, the key whose minute ends soonest is forgotten.
 */
export class RateLimiter {
  private readonly limiter: RateLimiterMemory | undefined;
  /** Key -> end of its minute. Insertion order is the order of those ends. */
  private readonly ends = new Map<string, number>();
  /** Goes on where it stopped: starting anew would pass over every key that was deleted before. */
  private readonly oldest = this.ends.keys();

  /**
   * @param perMinute requests a minute of one key; 0 is no limit
   * @param maxKeys keys counted at one time
   */
  constructor(
    perMinute: number,
    private readonly maxKeys = MAX_KEYS,
  ) {
    this.limiter =
      perMinute === 0 ? undefined : new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS });
  }

  /**
   * Counts one request.
   * @throws RateLimitExceededError when the key has had its requests of the minute
   */
  async consume(key: string): Promise<void> {
    if (this.limiter === undefined) {
      return;
    }
    this.track(key, this.limiter);
    try {
      await this.limiter.consume(key);
    } catch (error) {
      throw error instanceof RateLimiterRes
        ? new RateLimitExceededError(Math.max(1, Math.ceil(error.msBeforeNext / 1_000)))
        : error;
    }
  }

  private track(key: string, limiter: RateLimiterMemory): void {
    const now = performance.now();
    if ((this.ends.get(key) ?? 0) > now) {
      return;
    }
    this.ends.delete(key);
    if (this.ends.size >= this.maxKeys) {
      this.forgetOldest(limiter);
    }
    this.ends.set(key, now + WINDOW_MS);
  }

  private forgetOldest(limiter: RateLimiterMemory): void {
    const { value: oldest } = this.oldest.next();
    if (oldest !== undefined) {
      this.ends.delete(oldest);
      void limiter.delete(oldest);
    }
  }
}
