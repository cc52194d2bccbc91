import { flag, identifier, integer, powerOfTwo } from './setting-rules.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Settings of how long we wait for our own database, and for how many callers. */
export const databaseSettings = {
  DATABASE_POOL_SIZE: integer(1, 500, 20).describe(
    'Connections of the database pool; best above JOBS_CONCURRENCY, so that requests do not wait for background jobs.',
  ),
  DATABASE_POOL_QUEUE: integer(1, 100_000, 1_000).describe(
    'Most callers that wait for a connection of the pool; more are answered 503 at once.',
  ),
  DATABASE_POOL_WAIT_MS: integer(100, 10 * MINUTE_MS, 10_000).describe(
    'Milliseconds after which one who waits for a connection of the pool is answered 503; below DATABASE_DEADLINE_MS.',
  ),
  DATABASE_CONNECT_TIMEOUT_MS: integer(100, MINUTE_MS, 5_000).describe(
    'Milliseconds to wait for a database connection.',
  ),
  DATABASE_START_WAIT_SECONDS: integer(0, 3_600, 120).describe(
    'Seconds that a starting replica waits for a database that is away, or goes away before the start is done; 0 ends it at once.',
  ),
  DATABASE_TRANSACTION_RETRIES: integer(0, 20, 8).describe(
    'How often a transaction is repeated after a deadlock, a connection that was lost before the commit, or a server that takes no writes any more.',
  ),
  DATABASE_GROUP_MAX: integer(1, 256, 32).describe(
    'Most steps of processes that are stored by one transaction, and readings that share a statement, when they come at the same time; 1 does each by itself.',
  ),
  DATABASE_GROUPS: integer(1, 100, 2).describe(
    'Transactions of several steps that are written at the same time, and shared readings of one kind; fewer make larger groups.',
  ),
  DATABASE_GROUP_WORK_MS: integer(1, 1_000, 15).describe(
    'Milliseconds of work after which the rest of a group is left to the next one.',
  ),
  DATABASE_SHARDS: powerOfTwo(256, 1).describe(
    'Shards of the database, a power of two up to 256: above 1 each statement names the shard of its rows and no transaction touches two (deploy/vitess); 1 for a server that holds all rows.',
  ),
  DATABASE_SHARD_KEYSPACE: identifier.describe(
    'Keyspace of the tables of running processes, where it is another one than DATABASE_URL names: migrations of these tables run there (deploy/vitess).',
  ),
  DATABASE_PREPARED_STATEMENTS: flag(true).describe(
    'Whether statements that are sent again and again are prepared, once on each connection; false for a proxy that cannot. With several DATABASE_SHARDS none is.',
  ),
  DATABASE_LOCK_WAIT_SECONDS: integer(1, 60, 3).describe(
    'Seconds a statement waits for rows that another transaction holds.',
  ),
  DATABASE_SILENCE_MS: integer(1_000, 10 * MINUTE_MS, 10_000).describe(
    'Milliseconds after which a database that is asked and says nothing loses the connection; never less than a second above DATABASE_LOCK_WAIT_SECONDS. While migrations run or wait, only if it does not answer on another connection either.',
  ),
  DATABASE_DEADLINE_MS: integer(500, 10 * MINUTE_MS, 20_000).describe(
    'Milliseconds after which a request no longer waits for the database and answers 503, or 500 while a commit has no answer.',
  ),
  DATABASE_RETRY_AFTER_SECONDS: integer(1, 3_600, 2).describe(
    'What Retry-After says while the database is away or overloaded, seconds.',
  ),
};
