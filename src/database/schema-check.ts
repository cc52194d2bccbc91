import type { DataSource } from 'typeorm';
import { StartError } from '../config/start.error.js';
import { isEmbedded } from './row-locks.js';

const LISTED = 3;

/** The database lacks tables or migrations that this release needs. */
export class SchemaError extends StartError {
  override readonly name = 'SchemaError';
}

/**
 * Makes sure that the tables of this release are there, whoever migrates. What a later release has added is no matter.
 * Needs no right but reading.
 * @param shardKeyspace DATABASE_SHARD_KEYSPACE
 * @throws SchemaError which says what is missing and what to do
 */
export async function checkSchema(dataSource: DataSource, shardKeyspace?: string): Promise<void> {
  const tables = await tablesOf(dataSource, shardKeyspace);
  const pending = await pendingMigrations(dataSource, tables);
  if (pending.length > 0) {
    throw new SchemaError(
      `The database lacks ${counted(pending, 'migration')}: run "npm run migration:run" first, or start with MIGRATIONS_RUN=true.`,
    );
  }
  const missing = dataSource.entityMetadatas
    .map(({ tableName }) => tableName)
    .filter((table) => !tables.has(table.toLowerCase()));
  if (missing.length > 0) {
    throw new SchemaError(
      `The database lacks ${counted(missing, 'table')}, though every migration has run: restore it from a backup, or name the right database in DATABASE_URL.`,
    );
  }
}

async function tablesOf(dataSource: DataSource, shardKeyspace: string | undefined): Promise<Set<string>> {
  const list = 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ';
  const rows = (await dataSource.query(
    isEmbedded(dataSource) ? "SELECT name FROM sqlite_master WHERE type = 'table'" : `${list}DATABASE()`,
  )) as { name: string }[];
  const others =
    shardKeyspace === undefined ? [] : ((await dataSource.query(`${list}?`, [shardKeyspace])) as typeof rows);
  return new Set([...rows, ...others].map(({ name }) => name.toLowerCase()));
}

async function pendingMigrations(dataSource: DataSource, tables: Set<string>): Promise<string[]> {
  const rows = tables.has('migrations')
    ? ((await dataSource.query('SELECT name FROM migrations')) as { name: string }[])
    : [];
  const done = new Set(rows.map(({ name }) => name));
  return dataSource.migrations
    .map((migration) => migration.name ?? migration.constructor.name)
    .filter((name) => !done.has(name));
}

/** A number of things, the first of them by name. */
function counted(names: string[], thing: string): string {
  const more = names.length > LISTED ? ', …' : '';
  return `${names.length} ${thing}${names.length === 1 ? '' : 's'} (${names.slice(0, LISTED).join(', ')}${more})`;
}
