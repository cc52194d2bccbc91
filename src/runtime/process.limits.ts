/** Limits of running processes; they stop models that never end or need too many resources. */
export const processLimits = {
  /** Milliseconds after a UI action in which a repeated call that would go back gets the first answer, unless it has an Idempotency-Key, an If-Match or svc-back; 0 to disable. */
  repeatWindowMs: 1_000,
  /** Automatic nodes per transaction; a background job continues after them. */
  nodesPerStep: 200,
  /** Cost of all expressions and templates of one transaction or workflow node visit, in steps of about half a microsecond; more raises an incident. */
  expressionSteps: 50_000,
  /** Consecutive continuations by background jobs before a token waits; more raise an incident. */
  continues: 100,
  /** Live tokens of one process instance. */
  liveTokens: 500,
  /** Depth of nested process calls. */
  callDepth: 16,
  /** Live instances called by one started instance, directly or indirectly; a further call raises an incident. */
  familyInstances: 2_000,
  /** Open background jobs of a process family; a step that calls or publishes beyond them raises an incident. */
  familyJobs: 5_000,
  /** Elements of the collection of a multi-instance call activity. */
  items: 1_000,
  /** Open incidents of one process instance; further failing background work is retried until some are closed. */
  incidents: 500,
  /** Newest instances included in the statistics of a process; also the maximum number of incidents. */
  statisticsInstances: 10_000,
  /** Total number of events of these instances included in statistics. */
  statisticsEvents: 100_000,
  /** Return points of one process instance; the oldest are dropped. */
  returnPoints: 200,
  /** Seconds for which a published message waits for a receiver. */
  messageTtlSeconds: 604_800,
  /** Seconds between cleanups of expired stored answers and messages, and of empty counters. */
  cleanupSeconds: 3_600,
  /** Maximum number of rows that one cleanup statement deletes. */
  cleanupRows: 1_000,
  /** Seconds for which the metrics of all replicas use a count of open incidents; at least twenty times as long as counting took. */
  incidentCountSeconds: 30,
  /** Estimated memory of the cache of compiled process definitions; the least recently used are evicted. */
  definitionCacheBytes: 134_217_728,
  /** Open progress streams per replica. */
  followers: 500,
  /** Open progress streams per caller and replica. */
  followersPerCaller: 20,
  /** Milliseconds between polls for changes by other replicas to followed instances; with REDIS_URL replicas also notify each other. */
  progressPollMs: 1_000,
  /** Seconds between heartbeats of a progress stream; each one checks token and permission again. */
  heartbeatSeconds: 15,
  /** Seconds after which a progress stream that reads nothing is closed. */
  stallSeconds: 30,
  /** Maximum duration in seconds of a progress stream; clients reconnect and resume where they were. */
  followSeconds: 1_800,
};
