import { DataSource } from 'typeorm';
import { Env } from '../../src/platform/config/env.js';
import { dataSourceOptions } from '../../src/store/connection/data-source.options.js';
import { IdBlockEntity } from '../../src/store/ids/id-block.entity.js';
import { migrate } from '../../src/store/migrate.js';
import { SCHEMA } from '../../src/schema.js';

const MIGRATION_LOCK_SECONDS = 60;

/** The database of a test worker. */
export interface WorkerDatabase {
  /** DATABASE_URL. */
  url: string;
  /** Further settings of a service on a sharded database. */
  settings: Record<string, string>;
}

/** Creates the current schema in an empty test database. */
export async function migrateDatabase(database: WorkerDatabase): Promise<void> {
  await withDataSource(database, (dataSource) => migrate(dataSource, MIGRATION_LOCK_SECONDS));
}

/** Empties every table before a test file, except the id blocks that a shared application continues to use. */
export async function clearTables(database: WorkerDatabase): Promise<void> {
  const { settings } = database;
  await withDataSource(database, async (dataSource) => {
    const [off, on] =
      dataSource.options.type === 'better-sqlite3'
        ? ['PRAGMA foreign_keys = OFF', 'PRAGMA foreign_keys = ON']
        : ['SET FOREIGN_KEY_CHECKS = 0', 'SET FOREIGN_KEY_CHECKS = 1'];
    // The setting applies to a single connection, so all statements use the same runner.
    const runner = dataSource.createQueryRunner();
    try {
      await runner.query(off);
      if (settings['DATABASE_SHARD_KEYSPACE'] !== undefined) {
        // Each DELETE affects all shards.
        await runner.query("SET transaction_mode = 'multi'");
      }
      for (const { tablePath } of dataSource.entityMetadatas.filter(
        ({ target }) => target !== IdBlockEntity,
      )) {
        await runner.query(`DELETE FROM ${dataSource.driver.escape(tablePath)}`);
      }
      await runner.query(on);
    } finally {
      await runner.release();
    }
  });
}

async function withDataSource(
  { url, settings }: WorkerDatabase,
  work: (dataSource: DataSource) => Promise<unknown>,
): Promise<void> {
  const env = Env.parse('maintenance', { NODE_ENV: 'test', DATABASE_URL: url, ...settings });
  const dataSource = await new DataSource(dataSourceOptions(env, SCHEMA)).initialize();
  try {
    await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
