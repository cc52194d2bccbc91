import { setTimeout as sleep } from 'node:timers/promises';

const MAX_DOUBLINGS = 30;

/** Which failures are retried, how often and after which delay. All retries in this service follow such a policy. */
export interface RetryPolicy {
  /** Maximum number of retries after the first attempt. */
  readonly retries: number;
  /** Removes the cause of a failure, if a retry would meet it again. @returns whether to retry, because it is safe and may succeed */
  recover(error: unknown): boolean | Promise<boolean>;
  /** Milliseconds before the retry with this number, from 1. @default retries are immediate */
  delayMs?(retry: number, error: unknown): number;
  /** Ends the delay early. The next attempt must check for the abort itself. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs work until an attempt succeeds or the policy allows no further retry.
 * @param work receives the number of retries so far
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
      if (retries >= policy.retries || !(await policy.recover(error))) {
        throw error;
      }
      const delayMs = policy.delayMs?.(retries + 1, error);
      if (delayMs !== undefined) {
        await sleep(delayMs, undefined, { signal: policy.signal }).catch(() => undefined);
      }
    }
  }
}

/** Bounds of an exponential delay, in milliseconds. */
export interface DelayBounds {
  baseMs: number;
  maxMs: number;
}

/**
 * Returns the delay before a retry. It doubles with each retry up to a limit. Half of it is random, so that work that failed
 * together is not retried together.
 * @param retry number of the retry, from 1
 * @param random from 0 to 1
 * @returns milliseconds, between half of the delay and all of it
 */
export function backoff(retry: number, { baseMs, maxMs }: DelayBounds, random = Math.random()): number {
  const doublings = Math.min(Math.max(retry, 1) - 1, MAX_DOUBLINGS);
  const limit = Math.min(maxMs, baseMs * 2 ** doublings);
  return Math.round((limit / 2) * (1 + random));
}
