import type { MigrationInterface, ObjectLiteral, QueryRunner } from 'typeorm';
import type { Env } from '../platform/config/env.js';

/** Entities and migrations of the database. Higher layers pass them in, so that this layer does not depend on their tables. */
export interface Schema {
  readonly entities: (new () => ObjectLiteral)[];
  readonly migrations: (new () => MigrationInterface)[];
  /** Migrations that run in DATABASE_SHARD_KEYSPACE: those of running processes. All others run in DATABASE_URL. */
  readonly shardedMigrations?: readonly (new () => MigrationInterface)[];
}

type Migration = new () => MigrationInterface;

/** Returns the migrations of a schema, each of which runs in the keyspace of its tables. */
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

/** Runs work in a keyspace, then switches the connection back for other migrations and the list of executed ones. */
async function within(runner: QueryRunner, keyspace: string, work: () => Promise<void>): Promise<void> {
  await runner.query(`USE ${runner.connection.driver.escape(keyspace)}`);
  try {
    await work();
  } finally {
    await runner.query(`USE ${runner.connection.driver.escape(runner.connection.driver.database ?? '')}`);
  }
}
