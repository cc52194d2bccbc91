import { identifier, integer, powerOfTwo } from './setting-rules.js';

/** Settings of how long we wait for our own database, and for how many callers. */
export const databaseSettings = {
  DATABASE_POOL_SIZE: integer(1, 500, 20).describe(
    'Connections of the database pool; best above JOBS_CONCURRENCY, so that requests do not wait for background jobs.',
  ),
  DATABASE_SHARDS: powerOfTwo(256, 1).describe(
    'Shards of the database, a power of two up to 256: above 1 each statement names the shard of its rows and no transaction touches two (deploy/vitess); 1 for a server that holds all rows.',
  ),
  DATABASE_SHARD_KEYSPACE: identifier.describe(
    'Keyspace of the tables of running processes, where it is another one than DATABASE_URL names: migrations of these tables run there (deploy/vitess).',
  ),
};
