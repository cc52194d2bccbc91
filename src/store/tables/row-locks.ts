import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/**
 * How rows that a query selects are locked until the transaction ends. `pessimistic_read` keeps them as they are.
 * `pessimistic_write` keeps everybody else out. `pessimistic_partial_write` does so for rows that nobody holds, and
 * leaves out the others.
 */
export type RowLock = 'pessimistic_read' | 'pessimistic_write' | 'pessimistic_partial_write';

const CLAUSES = {
  pessimistic_read: ' LOCK IN SHARE MODE',
  pessimistic_write: ' FOR UPDATE',
  pessimistic_partial_write: ' FOR UPDATE SKIP LOCKED',
} as const satisfies Record<RowLock, string>;

/** Whether this is the embedded SQLite file, which has no row locks and one connection. */
export function isEmbedded({ options }: DataSource): boolean {
  return options.type === 'better-sqlite3';
}

/** The end of a SELECT that locks; nothing for the embedded file, which runs one transaction at a time anyway. */
export function lockClause(dataSource: DataSource, lock: RowLock): string {
  return isEmbedded(dataSource) ? '' : CLAUSES[lock];
}

export function locked<Row extends ObjectLiteral>(
  query: SelectQueryBuilder<Row>,
  lock: Exclude<RowLock, 'pessimistic_partial_write'>,
): SelectQueryBuilder<Row> {
  return isEmbedded(query.connection) ? query : query.setLock(lock);
}
