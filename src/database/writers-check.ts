import type { DataSource } from 'typeorm';
import { StartError } from '../config/start.error.js';
import { isEmbedded } from './row-locks.js';

const VARIABLES = ['group_replication_group_name', 'group_replication_single_primary_mode', 'wsrep_on'];
const NODES = 'wsrep_cluster_size';
const WHY =
  'Of servers that all take writes, none sees the locks of the others, so what two of them are told at one time can be lost.';

/** The database has several servers that take writes at the same time. */
export class SeveralWritersError extends StartError {
  override readonly name = 'SeveralWritersError';
}

/**
 * Makes sure that one server takes the writes of the database: locks on rows hold on one server only, and correctness rests on them.
 * It looks at a replication group of MySQL with several primaries and a cluster of Galera; what a server does not say of
 * itself cannot be found out.
 * @throws SeveralWritersError which names the variable and says what to do
 */
export async function checkWriters(dataSource: DataSource): Promise<void> {
  if (isEmbedded(dataSource)) {
    return;
  }
  const values = valuesOf(
    await dataSource.query(
      `SHOW GLOBAL VARIABLES WHERE Variable_name IN (${VARIABLES.map(quoted).join(', ')})`,
    ),
  );
  if (values.get('wsrep_on') === 'ON') {
    valuesOf(await dataSource.query(`SHOW GLOBAL STATUS LIKE '${NODES}'`)).forEach((value, name) =>
      values.set(name, value),
    );
  }
  const problem = severalWriters(values);
  if (problem !== undefined) {
    throw new SeveralWritersError(`${problem} ${WHY}`);
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

function valuesOf(rows: unknown): Map<string, string> {
  return new Map(
    (rows as { Variable_name: string; Value: string }[]).map(({ Variable_name: name, Value }) => [
      name.toLowerCase(),
      Value,
    ]),
  );
}

function quoted(name: string): string {
  return `'${name}'`;
}
