import type { DataSource } from 'typeorm';
import { StartError } from '../platform/config/start.error.js';
import { isEmbedded } from './tables/row-locks.js';
import type { Log } from '../platform/observability/logging/log.js';
import { databaseLimits } from './database.limits.js';

/**
 * Checks that sessions run at isolation level READ COMMITTED, which a proxy could have changed.
 * @throws StartError if they do not
 */
export async function checkSession(dataSource: DataSource): Promise<void> {
  if (isEmbedded(dataSource)) {
    return;
  }
  // MariaDB before 11.1 calls the variable tx_isolation.
  const values = await showValues(
    dataSource,
    "SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')",
  );
  if (![...values.values()].includes('READ-COMMITTED')) {
    throw new StartError('Database sessions must run at isolation level READ COMMITTED.');
  }
}

const VARIABLES = "'group_replication_group_name', 'group_replication_single_primary_mode', 'wsrep_on'";
const NODES = 'wsrep_cluster_size';
const WHY =
  'Servers that accept writes do not see the row locks of each other, so concurrent changes could be lost.';

/**
 * Checks that a single server accepts all writes, because row locks, which correctness depends on, apply to one server only.
 * Detects MySQL replication groups with several primaries and Galera clusters. Other setups cannot be detected.
 * @throws StartError with the variable and what to do
 */
export async function checkWriters(dataSource: DataSource): Promise<void> {
  if (isEmbedded(dataSource)) {
    return;
  }
  const values = await showValues(dataSource, `GLOBAL VARIABLES WHERE Variable_name IN (${VARIABLES})`);
  const isCluster = values.get('wsrep_on') === 'ON';
  const nodes = isCluster ? await showValues(dataSource, `GLOBAL STATUS LIKE '${NODES}'`) : [];
  const problem = multipleWritersProblem(new Map([...values, ...nodes]));
  if (problem !== undefined) {
    throw new StartError(`${problem} ${WHY}`);
  }
}

/**
 * Explains to the operator why several servers accept writes; returns undefined if only one does.
 * @param values variables and status values of the server, by lower-case name
 */
export function multipleWritersProblem(values: ReadonlyMap<string, string>): string | undefined {
  const isInGroup = (values.get('group_replication_group_name') ?? '') !== '';
  if (isInGroup && values.get('group_replication_single_primary_mode') === 'OFF') {
    return 'The database is a replication group with several primaries (group_replication_single_primary_mode): switch to single-primary mode.';
  }
  return values.get('wsrep_on') === 'ON' && Number(values.get(NODES) ?? 0) > 1
    ? 'The database is a Galera cluster with several nodes (wsrep_on, wsrep_cluster_size): use one server with replicas.'
    : undefined;
}

async function showValues(dataSource: DataSource, what: string): Promise<Map<string, string>> {
  const rows = await dataSource.query<{ Variable_name: string; Value: string }[]>(`SHOW ${what}`);
  return new Map(rows.map(({ Variable_name: name, Value }) => [name.toLowerCase(), Value]));
}

/** Warns if the packet limit of the server is too small for the largest value that the service stores. */
export async function warnOfSmallPackets(dataSource: DataSource, log: Log): Promise<void> {
  if (isEmbedded(dataSource)) {
    return;
  }
  const [row] = (await dataSource.query('SELECT @@max_allowed_packet AS bytes')) as { bytes: unknown }[];
  const bytes = Number(row?.bytes);
  if (databaseLimits.largestValueBytes >= bytes) {
    const detail = `max_allowed_packet of the database server (${bytes} bytes) must be above ${databaseLimits.largestValueBytes}: larger values cannot be stored.`;
    log.warn('max_allowed_packet is too small', { detail });
  }
}

const MAX_LISTED = 3;

/**
 * Checks that the tables of this release exist. Ignores tables and migrations of later releases. Only needs the right to read.
 * @throws StartError with what is missing and what to do
 */
export async function checkSchema(dataSource: DataSource, shardKeyspace?: string): Promise<void> {
  const tables = await tablesOf(dataSource, shardKeyspace);
  const pending = await pendingMigrations(dataSource, tables);
  if (pending.length > 0) {
    throw new StartError(
      `The database lacks ${counted(pending, 'migration')}: run "npm run migration:run" first, or start with MIGRATIONS_RUN=true.`,
    );
  }
  const missing = dataSource.entityMetadatas
    .map(({ tableName }) => tableName)
    .filter((table) => !tables.has(table.toLowerCase()));
  if (missing.length > 0) {
    throw new StartError(
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

function counted(names: string[], thing: string): string {
  const more = names.length > MAX_LISTED ? ', …' : '';
  return `${names.length} ${thing}${names.length === 1 ? '' : 's'} (${names.slice(0, MAX_LISTED).join(', ')}${more})`;
}
