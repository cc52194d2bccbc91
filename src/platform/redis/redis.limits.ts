/** How long the service waits for Redis. */
export const redisLimits = {
  /** Milliseconds to open a connection to Redis. */
  connectTimeoutMs: 5_000,
  /** Milliseconds to wait for an answer of Redis; after that the replica goes on without it. */
  timeoutMs: 1_000,
};
