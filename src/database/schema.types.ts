import type { MigrationInterface, ObjectLiteral } from 'typeorm';

/** What the database holds. The floors above hand it down, so that this one knows none of their tables. */
export interface Schema {
  readonly entities: (new () => ObjectLiteral)[];
  /** In the order in which they run. */
  readonly migrations: (new () => MigrationInterface)[];
  /** Those of the tables of running processes, whose keyspace is DATABASE_SHARD_KEYSPACE. All others are of DATABASE_URL. */
  readonly shardedMigrations?: readonly (new () => MigrationInterface)[];
}
