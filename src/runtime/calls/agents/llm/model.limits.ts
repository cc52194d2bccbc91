/** Limits of language model calls. */
export const modelLimits = {
  /** Timeout of one model call in milliseconds, from the first byte sent to the last one read. */
  timeoutMs: 60_000,
  /** Maximum bytes of one model answer. */
  maxResponseBytes: 1_048_576,
  /** Number of retries after 408, 409, 429, 5xx, a broken connection or an invalid answer. */
  maxRetries: 3,
  /** Milliseconds before the first retry without Retry-After; doubles with each retry. */
  retryBaseMs: 500,
  /** Maximum milliseconds before a retry, even if Retry-After is longer. */
  retryMaxMs: 30_000,
};
