/** Bounds of calls of REST_ENDPOINT nodes. */
export const restLimits = {
  /** Milliseconds for one call of a REST_ENDPOINT node that has no timeoutSeconds, its token included. */
  timeoutMs: 10_000,
  /** Largest answer of a REST system that a REST_ENDPOINT node takes; a larger one is refused, never cut. */
  maxResponseBytes: 1_048_576,
  /** How often a REST_ENDPOINT node calls again: after a call that was never sent, and for GET, PUT and DELETE also after 429, 502, 503, 504 and lost connections. */
  maxRetries: 2,
  /** Milliseconds before the first of these calls; each further one waits twice as long. */
  retryDelayMs: 500,
};
