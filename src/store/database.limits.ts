/** Limits for the use of the service's own database. */
export const databaseLimits = {
  /** Maximum number of callers waiting for a database connection. Further requests get 503 immediately. */
  poolQueue: 1_000,
  /** Maximum milliseconds to wait for a connection of the pool before a request gets 503. Must be below `deadlineMs`. */
  poolWaitMs: 10_000,
  /** Milliseconds to open a database connection. */
  connectTimeoutMs: 5_000,
  /** Seconds to wait at start while the database is unavailable; with 0 the start fails immediately. */
  startWaitSeconds: 120,
  /** Maximum number of retries of a transaction after a deadlock, a lost connection, or when the server became read-only. */
  transactionRetries: 8,
  /** Maximum number of process steps that share a transaction, or reads that share a statement; 1 disables sharing. */
  groupMax: 32,
  /** Maximum number of concurrent shared transactions, and of shared reads of one kind. Fewer lead to larger groups. */
  groups: 2,
  /** Milliseconds of work after which the remaining members of a group move to the next one. */
  groupWorkMs: 15,
  /** Whether to prepare frequent statements; false for a proxy without support. Ignored with several DATABASE_SHARDS. */
  preparedStatements: true,
  /** Seconds that a statement waits for rows locked by another transaction. */
  lockWaitSeconds: 3,
  /**
   * Milliseconds without an answer after which a connection is closed, at least one second more than `lockWaitSeconds`. During
   * migrations it is closed only if the database does not answer on another connection either.
   */
  silenceMs: 10_000,
  /** Milliseconds after which a request that waits for the database gets 503, or 500 if a commit has not been answered. */
  deadlineMs: 20_000,
  /** Seconds in Retry-After while the database is unavailable or overloaded. */
  retryAfterSeconds: 2,
  /** `PRAGMA synchronous` of the embedded database: how a commit waits for the disk. */
  embeddedSynchronous: 'FULL',
  /** Seconds to wait for another replica that runs migrations. */
  migrationLockSeconds: 120,
  /** Bytes of the largest value that a statement stores, which is a package. */
  largestValueBytes: 8_388_608,
};
