/** Bounds of connections and requests of callers. */
export const httpLimits = {
  /** Largest request body. */
  bodyBytes: 262_144,
  /** Most values of a request body, those inside of others included; packages have limits of their own. */
  bodyValues: 32_000,
  /** Bytes of request bodies above 16 KiB of one caller that are worked on at the same time; others wait; 0 is no limit. */
  callerBodyBytes: 262_144,
  /** Values of request bodies of more than 2,048 values of one caller that are worked on at the same time; others wait; 0 is no limit. */
  callerBodyValues: 32_000,
  /** Milliseconds for which a request body waits for others of its caller, for each of the two above, then it is answered 429. */
  callerBodyWaitMs: 10_000,
  /** Requests of one caller that are under way in this replica, beside those that follow instances; others are answered 429; 0 is no limit. */
  callerRequests: 100,
  /** Requests of one caller that this replica works on at the same time, best below DATABASE_POOL_SIZE; others of this caller wait for them; 0 is no limit. */
  callerAtWork: 8,
  /** Milliseconds after which the 429 of a rate limit or of `callerRequests` is answered, or up to twice as long, so that who asks again at once cannot fill the time of others. */
  refusalDelayMs: 250,
  /** Milliseconds in which the request headers must arrive. */
  headersTimeoutMs: 10_000,
  /** Milliseconds in which a whole request must arrive. */
  requestTimeoutMs: 30_000,
  /** Idle time of a kept connection; above that of the load balancer. */
  keepAliveTimeoutMs: 65_000,
  /** Open client connections at the most. */
  connections: 10_000,
  /** Open connections of one address; more are ended at once. Not used with TRUST_PROXY, since all of them are of the proxy then; 0 is no limit. */
  addressConnections: 1_000,
  /** Milliseconds for which the main thread may be busy at a stretch before /livez on METRICS_PORT fails. */
  livenessMaxStallMs: 30_000,
  /** Hard limit of a graceful stop. */
  shutdownTimeoutMs: 25_000,
  /** Deadline of the database check in /readyz. */
  readinessTimeoutMs: 2_000,
  /** Connection tests a minute of one caller; 0 is no limit. */
  connectionTestsPerMinute: 60,
  /** Rescans a minute for one caller; 0 for no limit. */
  rescansPerMinute: 6,
};
