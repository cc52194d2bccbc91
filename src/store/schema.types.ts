import type { MigrationInterface, ObjectLiteral, QueryRunner } from 'typeorm';
import type { Env } from '../platform/config/env.js';

/** What the database holds. The floors above hand it down, so that this one knows none of their tables. */
export interface Schema {
  readonly entities: (new () => ObjectLiteral)[];
  readonly migrations: (new () => MigrationInterface)[];
  /** Those of the tables of running processes, whose keyspace is DATABASE_SHARD_KEYSPACE. All others are of DATABASE_URL. */
  readonly shardedMigrations?: readonly (new () => MigrationInterface)[];
}

type Migration = new () => MigrationInterface;

/** The migrations of a schema, each of which runs in the keyspace of its tables. */
export function placedMigrations({ migrations, shardedMigrations = [] }: Schema, env: Env): Migration[] {
  const keyspace = env.get('DATABASE_SHARD_KEYSPACE');
  return keyspace === undefined
    ? migrations
    : migrations.map((migration) =>
        shardedMigrations.includes(migration) ? inKeyspace(migration, keyspace) : migration,
      );
}

function inKeyspace(Base: Migration, keyspace: string): Migration {
  return class extends Base {
    override up(runner: QueryRunner): Promise<void> {
      return within(runner, keyspace, () => super.up(runner) as Promise<void>);
    }

    override down(runner: QueryRunner): Promise<void> {
      return within(runner, keyspace, () => super.down(runner) as Promise<void>);
    }
  };
}

/** The connection goes on with other migrations, and with the list of those that have run. */
async function within(runner: QueryRunner, keyspace: string, work: () => Promise<void>): Promise<void> {
  await runner.query(`USE ${runner.connection.driver.escape(keyspace)}`);
  try {
    await work();
  } finally {
    await runner.query(`USE ${runner.connection.driver.escape(runner.connection.driver.database ?? '')}`);
  }
}
