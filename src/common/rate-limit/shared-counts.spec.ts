import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Shared } from '../redis/redis.service.js';
import { RateLimiter } from './rate-limiter.js';
import { SharedCounts } from './shared-counts.js';

const MINUTES = 60;
const MINUTE_MS = 60_000;

/** Counts as the script in Redis does. */
function countsInMemory(counts = new Map<string, { sum: number; end: number }>()): Shared {
  const client = {
    eval: (_script: string, _keys: number, key: string, counted: number, windowMs: number) => {
      const now = performance.now();
      const known = counts.get(key);
      const count = known === undefined || known.end <= now ? { sum: 0, end: now + windowMs } : known;
      count.sum += counted;
      counts.set(key, count);
      return Promise.resolve([count.sum, Math.round(count.end - now)]);
    },
  };
  const redis = { isReady: true, ask: (send: (to: typeof client) => Promise<unknown>) => send(client) };
  return { redis, keyOf: (kind: string, name: string) => `${kind}:${name}` } as unknown as Shared;
}

describe('counts of several replicas', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** @returns how many requests were refused of one caller who sends so many in each of 60 minutes */
  async function refused(replicas: number, perMinute: number): Promise<number> {
    const shared = countsInMemory();
    const limiters = Array.from(
      { length: replicas },
      () => new RateLimiter({ setting: 'RATE', most: 60 }, undefined, new SharedCounts(shared)),
    );
    const pauseMs = MINUTE_MS / perMinute;
    let count = 0;
    for (let request = 0; request < perMinute * MINUTES; request += 1) {
      try {
        limiters[request % replicas]?.consume('caller');
      } catch {
        count += 1;
      }
      // Not evenly, so that ends of minutes fall between any two steps; the same in every run.
      await vi.advanceTimersByTimeAsync(pauseMs * (0.7 + 0.6 * ((request * 0.618) % 1)));
    }
    return count;
  }

  it('keep to the limit of a replica when Redis loses them', async () => {
    const counts = new Map<string, { sum: number; end: number }>();
    const limiter = new RateLimiter(
      { setting: 'RATE', most: 6 },
      undefined,
      new SharedCounts(countsInMemory(counts)),
    );
    const consume = async (): Promise<boolean> => {
      try {
        limiter.consume('caller');
        return true;
      } catch {
        return false;
      } finally {
        await vi.advanceTimersByTimeAsync(2_000);
      }
    };
    for (let request = 0; request < 6; request += 1) {
      expect(await consume()).toBe(true);
      counts.clear();
    }
    expect(await consume()).toBe(false);
  });

  it.each([1, 2, 3])('let a caller through who keeps below the limit: %d replicas', async (replicas) => {
    expect(await refused(replicas, 50)).toBe(0);
  });

  it.each([1, 2, 3])('refuse what is beyond the limit: %d replicas', async (replicas) => {
    const count = await refused(replicas, 90);
    // 30 of 90 in each minute; a minute that begins with the rest of the one before may take a few more.
    expect(count).toBeGreaterThan(25 * MINUTES);
    expect(count).toBeLessThan(35 * MINUTES);
  });
});
