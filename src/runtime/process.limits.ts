/** Bounds of running processes: a model that never ends, or wants too much, meets one of them. */
export const processLimits = {
  /** Milliseconds after the execution of a UI action for which the same call again gets the first answer where it would lead back, unless it has an Idempotency-Key, an If-Match or svc-back; 0 for none. */
  repeatWindowMs: 1_000,
  /** Automatic nodes that one transaction goes through; a background job continues after that. */
  nodesPerStep: 200,
  /** Work of all expressions and templates of one transaction, or of one visit of a workflow node, in steps of about half a microsecond; beyond it there is an incident. */
  expressionSteps: 50_000,
  /** Such transactions in succession without a token coming to rest; then there is an incident. */
  continues: 100,
  /** Live tokens of one process instance. */
  liveTokens: 500,
  /** Processes that call each other, one inside the other. */
  callDepth: 16,
  /** Live instances that one started instance has called, directly and through others; a call beyond them is an incident. */
  familyInstances: 2_000,
  /** Open background jobs of an instance and of all that it has called; a step that calls or publishes beyond them is an incident. */
  familyJobs: 5_000,
  /** Elements of the collection that a call activity runs for. */
  items: 1_000,
  /** Open incidents of one process instance; background work that fails beyond them is tried again until some are closed. */
  incidents: 500,
  /** Newest instances of a process that its statistics count; so many incidents too. */
  statisticsInstances: 10_000,
  /** Events of these instances that are counted, together. */
  statisticsEvents: 100_000,
  /** Executed actions of one process instance that can be gone back to; the oldest are forgotten. */
  returnPoints: 200,
  /** Seconds that a published message waits for somebody to receive it. */
  messageTtlSeconds: 604_800,
  /** Days for which a repeated Idempotency-Key gets the stored answer. */
  idempotencyDays: 7,
  /** Seconds between two removals of stored answers and messages that have expired, and of counts that count nothing. */
  cleanupSeconds: 3_600,
  /** Rows that one statement of such a removal deletes at the most. */
  cleanupRows: 1_000,
  /** Seconds for which a count of open incidents holds in the metrics of all replicas; at least twenty times as long as it took. */
  incidentCountSeconds: 30,
  /** Memory for process definitions that are kept ready to run, estimated; those not used for longest make room. */
  definitionCacheBytes: 134_217_728,
  /** Open connections that follow the progress of instances, in this replica. */
  followers: 500,
  /** Open connections of one caller that follow the progress of instances, in this replica. */
  followersPerCaller: 20,
  /** Milliseconds between two looks for what other replicas did to instances that are followed; with REDIS_URL they tell it at once. */
  progressPollMs: 1_000,
  /** Seconds between two signs of life of such a connection; token and permission are checked again with each. */
  heartbeatSeconds: 15,
  /** Seconds for which such a connection may take nothing of what was sent to it; then it is cut off. */
  stallSeconds: 30,
  /** Seconds after which such a connection ends; clients connect again and go on where they were. */
  followSeconds: 1_800,
};
