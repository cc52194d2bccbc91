import type { Logger } from 'typeorm';
import type { TestApp } from '../app.js';

type App = Pick<TestApp, 'dataSource'>;

/** A statement that the service has sent. */
export interface Sent {
  sql: string;
  values: unknown[];
}

/** What some work sends to the database. */
export async function statementsOf({ dataSource }: App, work: () => Promise<unknown>): Promise<Sent[]> {
  const { logger } = dataSource;
  const sent: Sent[] = [];
  dataSource.logger = {
    logQuery: (sql: string, values: unknown[] = []) => void sent.push({ sql, values }),
    logQueryError: () => undefined,
  } as unknown as Logger;
  try {
    await work();
  } finally {
    dataSource.logger = logger;
  }
  return sent;
}

/**
 * How the database goes about the first statement of a list with a text in it, each row of the plan as JSON. Servers decide by how many
 * rows there are, see `multiplyRows`.
 * @param listing has the list read
 */
export async function planOf(app: App, text: string, listing: () => Promise<unknown>): Promise<string[]> {
  const sent = await statementsOf(app, listing);
  const { sql, values } = sent.find((one) => one.sql.includes(text)) ?? { sql: '', values: [] };
  const explain = isFile(app) ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  const rows = await app.dataSource.query<Record<string, unknown>[]>(`${explain} ${sql}`, values);
  return rows.map((row) => JSON.stringify(row));
}

/** The same for each reading of a table in the statement of a list, newest first. */
export async function plansOf(app: App, table: string, listing: () => Promise<unknown>): Promise<string[]> {
  const rows = await planOf(app, 'ORDER BY uuid DESC', listing);
  return rows.filter((row) => new RegExp(`ix_${table}|${table} `).test(row));
}

/** A text of its own for each row of `multiplyRows`. */
export const RANDOM_TEXT = Symbol('random text');

const DOUBLINGS = 10;
const FAR = 2 ** 40;

/**
 * Copies the rows of a table until there are a thousand times as many, and has servers look how many there are.
 * @param changed columns in which the copies differ: a number that is moved far away, a text of its own, or a value for all
 */
export async function multiplyRows(
  app: App,
  table: string,
  changed: Readonly<Record<string, 'far' | typeof RANDOM_TEXT | { all: string }>>,
): Promise<void> {
  const { dataSource } = app;
  const { columns } = dataSource.getMetadata(table);
  const names = columns.map(({ databaseName }) => dataSource.driver.escape(databaseName));
  for (let doubling = 0; doubling < DOUBLINGS; doubling += 1) {
    const values = columns.map(({ databaseName: name }) => {
      const change = changed[name];
      if (change === undefined) {
        return dataSource.driver.escape(name);
      }
      if (change === 'far') {
        return `${name} + ${FAR * 2 ** doubling}`;
      }
      return change === RANDOM_TEXT ? randomText(app) : `'${change.all}'`;
    });
    await dataSource.query(
      `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${table}`,
    );
  }
  if (!isFile(app)) {
    await dataSource.query(`ANALYZE TABLE ${table}`);
  }
}

function randomText(app: App): string {
  return isFile(app) ? 'lower(hex(randomblob(16)))' : 'UUID()';
}

function isFile({ dataSource }: App): boolean {
  return dataSource.options.type === 'better-sqlite3';
}
