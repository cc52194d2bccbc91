import { describe, expect, it } from 'vitest';
import { pollDelay, retryDelay } from './job-delay.js';

const BOUNDS = { baseMs: 1_000, maxMs: 60_000 };

describe('retryDelay', () => {
  it.each([
    [1, 500, 1_000],
    [2, 1_000, 2_000],
    [3, 2_000, 4_000],
    [6, 16_000, 32_000],
    [7, 30_000, 60_000],
    [100, 30_000, 60_000],
    [1_000_000, 30_000, 60_000],
    [0, 500, 1_000],
  ])('after attempt %i is between %i and %i ms', (attempts, least, most) => {
    expect(retryDelay(attempts, BOUNDS, 0)).toBe(least);
    expect(retryDelay(attempts, BOUNDS, 1)).toBe(most);
  });

  it('differs for jobs that failed at the same time', () => {
    const delays = Array.from({ length: 50 }, () => retryDelay(7, BOUNDS));
    expect(new Set(delays).size).toBeGreaterThan(40);
    expect(delays.every((delay) => delay >= 30_000 && delay <= 60_000)).toBe(true);
  });

  it('never exceeds the limit, even when the base does', () => {
    expect(retryDelay(1, { baseMs: 500, maxMs: 100 }, 1)).toBe(100);
  });
});

describe('pollDelay', () => {
  it('grows from 50 ms to the limit', () => {
    expect([0, 1, 2, 3, 1_000].map((idle) => pollDelay(idle, 200, 1))).toEqual([50, 100, 200, 200, 200]);
    expect(pollDelay(0, 200, 0)).toBe(25);
    expect(pollDelay(0, 10, 1)).toBe(10);
  });
});
