import type { DataSource, EntityManager, FindOneOptions } from 'typeorm';

/**
 * Lock on the rows of a query until the transaction ends: `pessimistic_read` prevents changes, `pessimistic_write` also other
 * locks, and `pessimistic_partial_write` skips rows that others have locked.
 */
export type RowLock = 'pessimistic_read' | 'pessimistic_write' | 'pessimistic_partial_write';

/** Locks that wait for rows that others have locked. */
export type HeldLock = Exclude<RowLock, 'pessimistic_partial_write'>;

const CLAUSES = {
  pessimistic_read: ' LOCK IN SHARE MODE',
  pessimistic_write: ' FOR UPDATE',
  pessimistic_partial_write: ' FOR UPDATE SKIP LOCKED',
} as const satisfies Record<RowLock, string>;

/** Reports whether this is the embedded SQLite file, which has no row locks and one connection. */
export function isEmbedded({ options }: DataSource): boolean {
  return options.type === 'better-sqlite3';
}

/** Returns the locking clause of a SELECT; empty for the embedded file, which runs one transaction at a time. */
export function lockClause(dataSource: DataSource, lock: RowLock): string {
  return isEmbedded(dataSource) ? '' : CLAUSES[lock];
}

/** The same as an option of the entity manager's `find` methods. */
export function lockOption({ connection }: EntityManager, mode: HeldLock): Pick<FindOneOptions, 'lock'> {
  return isEmbedded(connection) ? {} : { lock: { mode } };
}
