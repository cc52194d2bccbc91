import { QueryFailedError } from 'typeorm';

const DUPLICATE_CODES = new Set(['ER_DUP_ENTRY', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY']);
// A snapshot that moved on (MariaDB, ER_CHECKREAD) is a lost race like a deadlock: the same work succeeds when repeated.
const RETRYABLE_CODES = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'ER_CHECKREAD']);

/** Cardinality, data and constraints (ISO/IEC 9075, SQLSTATE classes 21 to 23): the same statement fails again. */
const MISTAKE_STATES = /^2[123]/;
/** The like among the codes whose SQLSTATE says nothing. */
const MISTAKE_CODES = new Set([
  'ER_CHECK_CONSTRAINT_VIOLATED',
  'ER_NET_PACKET_TOO_LARGE',
  'ER_NO_DEFAULT_FOR_FIELD',
  'ER_PARSE_ERROR',
  'ER_TOO_BIG_ROWSIZE',
  'ER_TRUNCATED_WRONG_VALUE_FOR_FIELD',
  'SQLITE_MISMATCH',
  'SQLITE_RANGE',
  'SQLITE_TOOBIG',
]);
const SQLITE_CONSTRAINT = 'SQLITE_CONSTRAINT';
/** SQLite has one code for a wrong statement and for a table that is away. */
const SQLITE_ERROR = 'SQLITE_ERROR';
const SOMETHING_AWAY = /\bno such (table|column)\b/;

/** What a driver says of an error. mysql2 marks those that ended their connection as `fatal`. */
interface DriverError {
  code?: unknown;
  sqlState?: unknown;
  fatal?: unknown;
  message?: unknown;
}

/** Whether the statement would have broken a unique index or primary key. */
export function isDuplicate(error: unknown): boolean {
  return DUPLICATE_CODES.has(driverCode(error));
}

/** Whether the same transaction may succeed when it is run again. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE_CODES.has(driverCode(error));
}

/**
 * Whether the database could not do what it was asked for: it is away, full, read-only or overloaded, a table is
 * missing. Not so when what it was asked for is wrong in itself, and would be refused again.
 */
export function isDriverFailure(error: unknown): boolean {
  const { code, sqlState, fatal, message } = driverErrorOf(error) ?? {};
  if (fatal === true) {
    return true;
  }
  if (typeof code !== 'string' || MISTAKE_CODES.has(code) || code.startsWith(SQLITE_CONSTRAINT)) {
    return false;
  }
  return code === SQLITE_ERROR
    ? SOMETHING_AWAY.test(String(message))
    : !MISTAKE_STATES.test(String(sqlState));
}

function driverCode(error: unknown): string {
  const code = error instanceof QueryFailedError ? driverErrorOf(error)?.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** A connection that cannot be had fails without a query. */
function driverErrorOf(error: unknown): DriverError | undefined {
  if (error instanceof QueryFailedError) {
    return error.driverError as DriverError;
  }
  return error instanceof Error && (error as DriverError).fatal === true ? error : undefined;
}
