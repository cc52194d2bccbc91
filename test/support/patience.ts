import { afterAll, vi } from 'vitest';
import { releaseLimits } from './limits/limits.js';

/** How long a test waits for what it expects. What never comes has not come by then either. */
export const PATIENCE_MS = 120_000;
/** A bound for what ends by a limit of its own, and would go on for minutes or for ever without: also a slow machine is in time. */
export const IN_TIME_MS = 30_000;

releaseLimits();
afterAll(releaseLimits);

// Its own end is one second, which is a claim about the speed of the machine.
const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, {
    timeout: PATIENCE_MS,
    ...(typeof options === 'number' ? { timeout: options } : options),
  });
