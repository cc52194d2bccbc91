const FIRST_POLL_MS = 50;
const MAX_DOUBLINGS = 30;

/** Bounds of a growing delay, milliseconds. */
export interface DelayBounds {
  baseMs: number;
  maxMs: number;
}

/**
 * How long a failed job waits for its next attempt. The time doubles with each attempt up to a limit. Half of it is by chance,
 * so that jobs which failed together do not come back together.
 * @param attempts how often the job was begun, from 1
 * @param random from 0 to 1
 * @returns milliseconds, from half of the delay to the whole of it
 */
export function retryDelay(attempts: number, { baseMs, maxMs }: DelayBounds, random = Math.random()): number {
  const doublings = Math.min(Math.max(attempts, 1) - 1, MAX_DOUBLINGS);
  const limit = Math.min(maxMs, baseMs * 2 ** doublings);
  return Math.round((limit / 2) * (1 + random));
}

/**
 * How long a worker without work waits before it looks again, unless it is woken.
 * @param idle how often it looked in vain before, from 0
 * @param maxMs `pollMs`
 */
export function pollDelay(idle: number, maxMs: number, random = Math.random()): number {
  return retryDelay(idle + 1, { baseMs: FIRST_POLL_MS, maxMs }, random);
}
