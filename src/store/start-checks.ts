import type { DataSource } from 'typeorm';
import { StartError } from '../platform/config/start.error.js';
import { isEmbedded } from './tables/row-locks.js';
import type { Log } from '../platform/observability/logging/log.js';
import { databaseLimits } from './database.limits.js';

/**
 * Makes sure that sessions really run at READ COMMITTED, which a proxy between us and the server could undo.
 * @throws StartError otherwise
 */
export async function checkSession(dataSource: DataSource): Promise<void> {
  if (isEmbedded(dataSource)) {
    return;
  }
  // MariaDB before 11.1 calls the variable tx_isolation.
  const values = await shown(
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
  'Of servers that all take writes, none sees the locks of the others, so what two of them are told at one time can be lost.';

/**
 * Makes sure that one server takes the writes of the database: locks on rows hold on one server only, and correctness rests on them.
 * It looks at a replication group of MySQL with several primaries and a cluster of Galera; what a server does not say of
 * itself cannot be found out.
 * @throws StartError which names the variable and says what to do
 */
export async function checkWriters(dataSource: DataSource): Promise<void> {
  if (isEmbedded(dataSource)) {
    return;
  }
  const values = await shown(dataSource, `GLOBAL VARIABLES WHERE Variable_name IN (${VARIABLES})`);
  const isCluster = values.get('wsrep_on') === 'ON';
  const nodes = isCluster ? await shown(dataSource, `GLOBAL STATUS LIKE '${NODES}'`) : [];
  const problem = severalWriters(new Map([...values, ...nodes]));
  if (problem !== undefined) {
    throw new StartError(`${problem} ${WHY}`);
  }
}

/**
 * What makes a server one of several that take writes, in a sentence for its operator; undefined where nothing does.
 * @param values of variables and states of the server, by name in small letters
 */
export function severalWriters(values: ReadonlyMap<string, string>): string | undefined {
  const isInGroup = (values.get('group_replication_group_name') ?? '') !== '';
  if (isInGroup && values.get('group_replication_single_primary_mode') === 'OFF') {
    return 'The database is a replication group with several primaries (group_replication_single_primary_mode): switch it to one.';
  }
  return values.get('wsrep_on') === 'ON' && Number(values.get(NODES) ?? 0) > 1
    ? 'The database is a cluster of Galera with several nodes (wsrep_on, wsrep_cluster_size): use one server with replicas.'
    : undefined;
}

async function shown(dataSource: DataSource, what: string): Promise<Map<string, string>> {
  const rows = await dataSource.query<{ Variable_name: string; Value: string }[]>(`SHOW ${what}`);
  return new Map(rows.map(({ Variable_name: name, Value }) => [name.toLowerCase(), Value]));
}

/** Warns where the server takes no statement as large as the largest value that we store: such work fails. */
export async function warnOfPackets(dataSource: DataSource, log: Log): Promise<void> {
  if (isEmbedded(dataSource)) {
    return;
  }
  const [row] = (await dataSource.query('SELECT @@max_allowed_packet AS bytes')) as { bytes: unknown }[];
  const bytes = Number(row?.bytes);
  if (databaseLimits.largestValueBytes >= bytes) {
    const detail = `max_allowed_packet of the database server (${bytes} bytes) must be above ${databaseLimits.largestValueBytes}: what is larger cannot be stored.`;
    log.warn('a packet of the database is too small', { detail });
  }
}

const LISTED = 3;

/**
 * Makes sure that the tables of this release are there, whoever migrates. What a later release has added is no matter.
 * Needs no right but reading.
 * @throws StartError which says what is missing and what to do
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
  const more = names.length > LISTED ? ', …' : '';
  return `${names.length} ${thing}${names.length === 1 ? '' : 's'} (${names.slice(0, LISTED).join(', ')}${more})`;
}
