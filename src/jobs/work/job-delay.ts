const FIRST_POLL_MS = 50;
const MAX_DOUBLINGS = 30;

/** Bounds of an exponential delay, in milliseconds. */
export interface DelayBounds {
  baseMs: number;
  maxMs: number;
}

/**
 * Returns the delay before the next attempt: exponential backoff up to a limit, with jitter in its upper half, so that jobs that
 * failed together are not retried together.
 * @param attempts number of attempts so far, from 1
 * @param random from 0 to 1
 * @returns milliseconds
 */
export function retryDelay(attempts: number, { baseMs, maxMs }: DelayBounds, random = Math.random()): number {
  const doublings = Math.min(Math.max(attempts, 1) - 1, MAX_DOUBLINGS);
  const limit = Math.min(maxMs, baseMs * 2 ** doublings);
  return Math.round((limit / 2) * (1 + random));
}

/**
 * Returns how long an idle worker waits before it polls again, in milliseconds.
 * @param idle number of polls without a job, from 0
 * @param maxMs `pollMs`
 */
export function pollDelay(idle: number, maxMs: number, random = Math.random()): number {
  return retryDelay(idle + 1, { baseMs: FIRST_POLL_MS, maxMs }, random);
}
