import { describe, expect, it } from 'vitest';
import { backoff, withRetries } from './retry.js';

const BOUNDS = { baseMs: 1_000, maxMs: 60_000 };

describe('backoff', () => {
  it.each([
    [1, 500, 1_000],
    [2, 1_000, 2_000],
    [3, 2_000, 4_000],
    [6, 16_000, 32_000],
    [7, 30_000, 60_000],
    [100, 30_000, 60_000],
    [1_000_000, 30_000, 60_000],
    [0, 500, 1_000],
  ])('of retry %i is between %i and %i ms', (retry, least, most) => {
    expect(backoff(retry, BOUNDS, 0)).toBe(least);
    expect(backoff(retry, BOUNDS, 1)).toBe(most);
  });

  it('differs for work that failed at the same time', () => {
    const delays = Array.from({ length: 50 }, () => backoff(7, BOUNDS));
    expect(new Set(delays).size).toBeGreaterThan(40);
    expect(delays.every((delay) => delay >= 30_000 && delay <= 60_000)).toBe(true);
  });

  it('never exceeds the limit, even when the base does', () => {
    expect(backoff(1, { baseMs: 500, maxMs: 100 }, 1)).toBe(100);
  });
});

describe('withRetries', () => {
  const failing = (failures: number) => (retries: number) =>
    retries < failures ? Promise.reject(new Error(`attempt ${retries}`)) : Promise.resolve(retries);

  it('runs work until it succeeds', async () => {
    const delays: number[] = [];
    const delayMs = (retry: number): number => delays.push(retry);
    expect(await withRetries({ retries: 3, recover: () => true, delayMs }, failing(2))).toBe(2);
    expect(delays).toEqual([1, 2]);
  });

  it('throws the error of the last attempt', async () => {
    const policy = { retries: 2, recover: () => true };
    await expect(withRetries(policy, failing(9))).rejects.toThrow('attempt 2');
    await expect(withRetries({ ...policy, recover: () => false }, failing(9))).rejects.toThrow('attempt 0');
  });

  it('does not wait after its signal is aborted', async () => {
    const policy = {
      retries: 1,
      recover: () => true,
      delayMs: () => 60_000,
      signal: AbortSignal.abort(),
    };
    expect(await withRetries(policy, failing(1))).toBe(1);
  });
});
