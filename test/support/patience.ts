import { afterAll, vi } from 'vitest';
import { releaseLimits } from './limits/limits.js';

/** Maximum time that a test waits for an expected event. Only failing tests wait that long. */
export const PATIENCE_MS = 120_000;
/** Upper bound for work that a limit of the service ends early, even on a slow machine. Without the limit it takes longer. */
export const IN_TIME_MS = 30_000;

releaseLimits();
afterAll(releaseLimits);

// The default timeout of one second would depend on the speed of the machine.
const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, {
    timeout: PATIENCE_MS,
    ...(typeof options === 'number' ? { timeout: options } : options),
  });
