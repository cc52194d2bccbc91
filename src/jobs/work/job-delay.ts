import { backoff } from '../../platform/concurrency/retry.js';
import { jobLimits } from '../job.limits.js';

const FIRST_POLL_MS = 50;

/** Returns the milliseconds before the next attempt of a job. @param attempts number of attempts so far, from 1 */
export function retryDelay(attempts: number): number {
  return backoff(attempts, { baseMs: jobLimits.retryBaseMs, maxMs: jobLimits.retryMaxMs });
}

/**
 * Returns how long an idle worker waits before it polls again, in milliseconds.
 * @param idle number of polls without a job, from 0
 * @param maxMs `pollMs`
 */
export function pollDelay(idle: number, maxMs: number, random = Math.random()): number {
  return backoff(idle + 1, { baseMs: FIRST_POLL_MS, maxMs }, random);
}
