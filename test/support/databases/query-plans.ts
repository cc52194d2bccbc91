import type { Logger } from 'typeorm';
import type { TestApp } from '../app.js';

type App = Pick<TestApp, 'dataSource'>;

/** A statement that the service sent to the database. */
export interface SentStatement {
  sql: string;
  values: unknown[];
}

/** Returns the statements that the service sends to the database while `work` runs. */
export async function statementsOf(
  { dataSource }: App,
  work: () => Promise<unknown>,
): Promise<SentStatement[]> {
  const { logger } = dataSource;
  const sent: SentStatement[] = [];
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
 * Returns the query plan of the first statement that contains a text, one JSON string per row of the plan. The plan
 * depends on the number of rows; see `multiplyRows`.
 * @param listing makes the service run the statement
 */
export async function planOf(app: App, text: string, listing: () => Promise<unknown>): Promise<string[]> {
  const sent = await statementsOf(app, listing);
  const { sql, values } = sent.find((one) => one.sql.includes(text)) ?? { sql: '', values: [] };
  const explain = isFile(app) ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  const rows = await app.dataSource.query<Record<string, unknown>[]>(`${explain} ${sql}`, values);
  return rows.map((row) => JSON.stringify(row));
}

/** Like {@link planOf}, but returns only the rows about one table, for a list sorted by newest first. */
export async function plansOf(app: App, table: string, listing: () => Promise<unknown>): Promise<string[]> {
  const rows = await planOf(app, 'ORDER BY uuid DESC', listing);
  return rows.filter((row) => new RegExp(`ix_${table}|${table} `).test(row));
}

/** Gives each row that `multiplyRows` adds a different random text. */
export const RANDOM_TEXT = Symbol('random text');

const DOUBLINGS = 10;
const FAR = 2 ** 40;

/**
 * Copies the rows of a table until it has 1,024 times as many, and updates the table statistics.
 * @param changed columns in which copies differ: `far` adds a large number, RANDOM_TEXT sets a random text, `all` sets
 * the same value in all copies
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
