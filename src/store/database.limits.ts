/** How long the service waits for its own database, and for how many callers. */
export const databaseLimits = {
  /** Most callers that wait for a connection of the pool; more are answered 503 at once. */
  poolQueue: 1_000,
  /** Milliseconds after which one who waits for a connection of the pool is answered 503; below `deadlineMs`. */
  poolWaitMs: 10_000,
  /** Milliseconds to wait for a database connection. */
  connectTimeoutMs: 5_000,
  /** Seconds that a starting replica waits for a database that is away, or goes away before the start is done; 0 ends it at once. */
  startWaitSeconds: 120,
  /** How often a transaction is repeated after a deadlock, a connection that was lost before the commit, or a server that takes no writes any more. */
  transactionRetries: 8,
  /** Most steps of processes that are stored by one transaction, and readings that share a statement, when they come at the same time; 1 does each by itself. */
  groupMax: 32,
  /** Transactions of several steps that are written at the same time, and shared readings of one kind; fewer make larger groups. */
  groups: 2,
  /** Milliseconds of work after which the rest of a group is left to the next one. */
  groupWorkMs: 15,
  /** Whether statements that are sent again and again are prepared, once on each connection; false for a proxy that cannot. With several DATABASE_SHARDS none is. */
  preparedStatements: true,
  /** Seconds a statement waits for rows that another transaction holds. */
  lockWaitSeconds: 3,
  /** Milliseconds after which a database that is asked and says nothing loses the connection; never less than a second above `lockWaitSeconds`. While migrations run or wait, only if it does not answer on another connection either. */
  silenceMs: 10_000,
  /** Milliseconds after which a request no longer waits for the database and answers 503, or 500 while a commit has no answer. */
  deadlineMs: 20_000,
  /** What Retry-After says while the database is away or overloaded, seconds. */
  retryAfterSeconds: 2,
  /** How the embedded database waits for the disk at a commit: `PRAGMA synchronous`. */
  embeddedSynchronous: 'FULL',
  /** Seconds to wait for another replica that is migrating. */
  migrationLockSeconds: 120,
  /** Bytes of the largest value that one statement stores: a package. */
  largestValueBytes: 8_388_608,
};
