/** Limits of connections and requests of callers. */
export const httpLimits = {
  /** Maximum bytes of a request body. */
  bodyBytes: 262_144,
  /** Maximum number of values of a request body, nested ones included. Packages have their own limits. */
  bodyValues: 32_000,
  /** Maximum bytes of request bodies above 16 KiB that one caller has in progress. Others wait. 0 means no limit. */
  callerBodyBytes: 262_144,
  /**
   * Maximum number of values of request bodies with more than 2,048 values that one caller has in progress. Others
   * wait. 0 means no limit.
   */
  callerBodyValues: 32_000,
  /**
   * Milliseconds for which a request body waits for others of its caller, for each of the two limits above, before it
   * gets 429.
   */
  callerBodyWaitMs: 10_000,
  /**
   * Maximum number of requests of one caller in progress in this replica, except those that follow instances. Others
   * get 429. 0 means no limit.
   */
  callerRequests: 100,
  /**
   * Maximum number of requests of one caller that this replica handles at the same time, best below DATABASE_POOL_SIZE.
   * Others of this caller wait. 0 means no limit.
   */
  callerAtWork: 8,
  /**
   * Minimum delay, in milliseconds, of a 429 of a rate limit or of `callerRequests`; the maximum is twice as long. It
   * keeps callers who retry immediately from taking up the time of others.
   */
  refusalDelayMs: 250,
  /** Milliseconds in which the request headers must arrive. */
  headersTimeoutMs: 10_000,
  /** Milliseconds in which a whole request must arrive. */
  requestTimeoutMs: 30_000,
  /** Idle time after which a connection is closed; longer than that of the load balancer. */
  keepAliveTimeoutMs: 65_000,
  /** Maximum number of open client connections. */
  connections: 10_000,
  /**
   * Maximum number of open connections of one address; further ones are closed. Not used with TRUST_PROXY, since all
   * connections come from the proxy then. 0 means no limit.
   */
  addressConnections: 1_000,
  /** Milliseconds for which the main thread may be blocked before /livez on METRICS_PORT fails. */
  livenessMaxStallMs: 30_000,
  /** Maximum duration of a graceful stop. */
  shutdownTimeoutMs: 25_000,
  /** Deadline of the database check in /readyz. */
  readinessTimeoutMs: 2_000,
  /** Connection tests per minute of one caller; 0 means no limit. */
  connectionTestsPerMinute: 60,
  /** Rescans per minute of one caller; 0 means no limit. */
  rescansPerMinute: 6,
};
