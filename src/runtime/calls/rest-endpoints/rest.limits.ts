/** Limits of calls of REST_ENDPOINT nodes. */
export const restLimits = {
  /** Timeout in milliseconds of one call without timeoutSeconds, including the token request. */
  timeoutMs: 10_000,
  /** Maximum bytes of an answer; a larger one is rejected, never truncated. */
  maxResponseBytes: 1_048_576,
  /** Number of retries after a call that was not sent, and for GET, PUT and DELETE also after 429, 502, 503, 504 and lost connections. */
  maxRetries: 2,
  /** Milliseconds before the first retry; doubles with each retry. */
  retryDelayMs: 500,
};
