import type { DataSource } from 'typeorm';
import { queryPool } from './server-pool.js';
import { asStatement, watchStatements } from './statement-spans.js';

/**
 * Sends statements outside of transactions that are spelled out to the pool of a server by the shortest way, and makes
 * spans of statements where a trace is recorded. Once for each data source.
 */
export function sendDirectly(dataSource: DataSource): void {
  dataSource.manager.query = <Rows>(sql: string, values: unknown[] = []) =>
    asStatement(dataSource, sql, () => queryPool(dataSource, sql, values) as Promise<Rows>);
  watchStatements(dataSource);
}
