import { QueryFailedError } from 'typeorm';

const DUPLICATE_CODES = new Set(['ER_DUP_ENTRY', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY']);
// A snapshot that moved on (MariaDB, ER_CHECKREAD) is a lost race like a deadlock: the same work succeeds when repeated.
const RETRYABLE_CODES = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'ER_CHECKREAD']);

/** Whether the statement would have broken a unique index or primary key. */
export function isDuplicate(error: unknown): boolean {
  return DUPLICATE_CODES.has(driverCode(error));
}

/** Whether the same transaction may succeed when it is run again. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE_CODES.has(driverCode(error));
}

function driverCode(error: unknown): string {
  if (!(error instanceof QueryFailedError)) {
    return '';
  }
  const { code } = error.driverError as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
