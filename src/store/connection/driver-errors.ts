import { QueryFailedError } from 'typeorm';

const DUPLICATE_CODES = new Set(['ER_DUP_ENTRY', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY']);
/**
 * Races that a retry of the same transaction wins. ER_CHECKREAD: the row has changed since the snapshot (MariaDB).
 * ER_TRANSACTION_ROLLBACK_DURING_COMMIT: another member of the replication group committed a conflicting transaction.
 */
const RETRYABLE_CODES = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CHECKREAD',
  'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
]);
/** The server became read-only. Another server accepts writes, or this one will again. Nothing of the transaction was stored. */
const READ_ONLY_CODES = new Set([
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'ER_CANT_UPDATE_WITH_READLOCK',
  'ER_GRP_TRX_CONSISTENCY_AFTER_ON_TRX_BEGIN',
  'ER_GRP_TRX_CONSISTENCY_BEFORE',
  'ER_GRP_TRX_CONSISTENCY_BEGIN_NOT_ALLOWED',
  'ER_GRP_TRX_CONSISTENCY_NOT_ALLOWED',
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_READ_ONLY_MODE',
  'ER_RUN_HOOK_ERROR',
  'ER_SERVER_OFFLINE_MODE',
]);
/** After these errors of a COMMIT, SQLite leaves the transaction open, and it is rolled back. */
const SQLITE_COMMIT_FAILURES = new Set(['SQLITE_BUSY', 'SQLITE_FULL', 'SQLITE_READONLY']);
/**
 * The address or the name server does not answer, or the server has no free connection. An unknown name usually belongs to a
 * stopped container or pod, and cannot be distinguished from a wrong name.
 */
const UNREACHABLE_CODES = new Set([
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ER_CON_COUNT_ERROR',
  'ETIMEDOUT',
]);
/** The connection ended or was refused, or was closed because the server was silent for `silenceMs`. */
const LOSS_CODES = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ER_CLIENT_INTERACTION_TIMEOUT',
  'ER_CONNECTION_KILLED',
  'ER_SERVER_SHUTDOWN',
  'PROTOCOL_CONNECTION_LOST',
  'DATABASE_SILENT',
]);

/** Errors of cardinality, data and constraints (ISO/IEC 9075, SQLSTATE classes 21 to 23). A retry would fail again. */
const MISTAKE_STATES = /^2[123]/;
/** Similar errors whose SQLSTATE is not specific. */
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
/** SQLite uses the same code for an invalid statement and a missing table. */
const SQLITE_ERROR = 'SQLITE_ERROR';
/** The statement is invalid or not permitted (SQLSTATE class 42). A retry does not help. */
const UNKNOWN_STATE = /^42/;
const MISSING_OBJECT = /\bno such (table|column)\b/;

/** Error of a driver. mysql2 marks errors that ended the connection as `fatal`. */
interface DriverError {
  code?: unknown;
  sqlState?: unknown;
  fatal?: unknown;
  message?: unknown;
}

/** Reports whether a statement violated a unique index or primary key. */
export function isDuplicate(error: unknown): boolean {
  return DUPLICATE_CODES.has(driverCode(error));
}

/** Reports whether the same transaction may succeed if it is repeated. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE_CODES.has(driverCode(error));
}

/** Reports whether a statement timed out waiting for a row lock. The transaction continues. */
export function isLockTimeout(error: unknown): boolean {
  return driverCode(error) === 'ER_LOCK_WAIT_TIMEOUT';
}

/** Reports whether a statement names a table that does not exist on the server. */
export function isMissingTable(error: unknown): boolean {
  return driverCode(error) === 'ER_NO_SUCH_TABLE';
}

/** Reports whether the server has become read-only, which affects all connections to it. */
export function isWriteRefused(error: unknown): boolean {
  return READ_ONLY_CODES.has(driverCode(error));
}

/** Reports whether the connection was lost or could not be opened, so that another one may work. */
export function isConnectionLost(error: unknown): boolean {
  const { code, fatal } = driverErrorOf(error) ?? {};
  return typeof code === 'string' ? LOSS_CODES.has(code) : fatal === true;
}

/** Reports whether the server is unreachable, starting or stopping, but not whether it rejects the credentials. */
export function isAway(error: unknown): boolean {
  const { code } = driverErrorOf(error) ?? {};
  return isConnectionLost(error) || UNREACHABLE_CODES.has(String(code));
}

/** Reports whether a failed COMMIT definitely stored nothing. */
export function isRolledBack(error: unknown): boolean {
  return isRetryable(error) || isWriteRefused(error) || SQLITE_COMMIT_FAILURES.has(driverCode(error));
}

/** Reports whether the database is unavailable, full, read-only or overloaded, so that the same work may succeed later. */
export function isOutage(error: unknown): boolean {
  const { code, sqlState, fatal } = driverErrorOf(error) ?? {};
  const isUnknown = code === SQLITE_ERROR || UNKNOWN_STATE.test(String(sqlState));
  return fatal === true || (isDriverFailure(error) && !isUnknown);
}

/**
 * Reports whether the database failed: it is unavailable, full, read-only or overloaded, or a table is missing. False for
 * statements that are wrong themselves and would fail again.
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
    ? MISSING_OBJECT.test(String(message))
    : !MISTAKE_STATES.test(String(sqlState));
}

function driverCode(error: unknown): string {
  const code = error instanceof QueryFailedError ? driverErrorOf(error)?.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** Returns the error of the driver. A connection that cannot be opened fails with a plain error, without a query. */
function driverErrorOf(error: unknown): DriverError | undefined {
  if (error instanceof QueryFailedError) {
    return error.driverError as DriverError;
  }
  return error instanceof Error && (error as DriverError).fatal === true ? error : undefined;
}
