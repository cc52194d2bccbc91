/** Timeouts of the service for Redis. */
export const redisLimits = {
  /** Milliseconds to open a connection to Redis. */
  connectTimeoutMs: 5_000,
  /** Milliseconds to wait for an answer of Redis, after which the replica continues without it. */
  timeoutMs: 1_000,
};
