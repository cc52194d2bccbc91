import type { Logger } from 'typeorm';
import type { TestApp } from '../app.js';

/**
 * How the database goes about the first statement of a list with a text in it, each row of the plan as JSON.
 * @param listing has the list read
 */
export async function planOf(
  { dataSource }: Pick<TestApp, 'dataSource'>,
  text: string,
  listing: () => Promise<unknown>,
): Promise<string[]> {
  const { logger } = dataSource;
  const sent: { sql: string; values: unknown[] }[] = [];
  dataSource.logger = {
    logQuery: (sql: string, values: unknown[] = []) => void sent.push({ sql, values }),
    logQueryError: () => undefined,
  } as unknown as Logger;
  await listing();
  dataSource.logger = logger;
  const { sql, values } = sent.find((one) => one.sql.includes(text)) ?? { sql: '', values: [] };
  const explain = dataSource.options.type === 'better-sqlite3' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  const rows = await dataSource.query<Record<string, unknown>[]>(`${explain} ${sql}`, values);
  return rows.map((row) => JSON.stringify(row));
}

/** The same for each reading of a table in the statement of a list, newest first. */
export async function plansOf(
  app: Pick<TestApp, 'dataSource'>,
  table: string,
  listing: () => Promise<unknown>,
): Promise<string[]> {
  const rows = await planOf(app, 'ORDER BY uuid DESC', listing);
  return rows.filter((row) => new RegExp(`ix_${table}|${table} `).test(row));
}
