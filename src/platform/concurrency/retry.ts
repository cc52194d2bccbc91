import { setTimeout as sleep } from 'node:timers/promises';

const MAX_DOUBLINGS = 30;

/** Which failures lead to a retry, how many and how soon. Every retry of failed work in this service follows such a policy. */
export interface RetryPolicy {
  /** Maximum number of retries after the first attempt. */
  readonly retries: number;
  /** Whether another attempt does no harm and may succeed. May first provide what the failed attempt lacked. */
  isRetryable(error: unknown): boolean | Promise<boolean>;
  /** Milliseconds before a retry, by its number from 1. By default the retry is immediate. */
  delayMs?(retry: number, error: unknown): number;
  /** Cuts the pause short. The next attempt has to notice the abort. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs work until an attempt succeeds or the policy allows no other.
 * @param work gets the number of retries so far
 * @throws what the last attempt throws
 */
export async function withRetries<Result>(
  policy: RetryPolicy,
  work: (retries: number) => Promise<Result>,
): Promise<Result> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await work(retries);
    } catch (error) {
      if (retries >= policy.retries || !(await policy.isRetryable(error))) {
        throw error;
      }
      const delayMs = policy.delayMs?.(retries + 1, error);
      if (delayMs !== undefined) {
        await sleep(delayMs, undefined, { signal: policy.signal }).catch(() => undefined);
      }
    }
  }
}

/** Bounds of a growing delay, milliseconds. */
export interface DelayBounds {
  baseMs: number;
  maxMs: number;
}

/**
 * Delay before a retry. It doubles with each retry up to a limit. Half of it is random, so that work which failed together does not come
 * back together.
 * @param retry number of the retry, from 1
 * @param random from 0 to 1
 * @returns milliseconds, from half of the delay to the whole of it
 */
export function backoff(retry: number, { baseMs, maxMs }: DelayBounds, random = Math.random()): number {
  const doublings = Math.min(Math.max(retry, 1) - 1, MAX_DOUBLINGS);
  const limit = Math.min(maxMs, baseMs * 2 ** doublings);
  return Math.round((limit / 2) * (1 + random));
}
