import { QueryFailedError } from 'typeorm';

const DUPLICATE_CODES = new Set(['ER_DUP_ENTRY', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY']);
// A snapshot that moved on (MariaDB, ER_CHECKREAD) is a lost race like a deadlock: the same work succeeds when repeated.
// So is a transaction that the other members of a replication group have overtaken.
const RETRYABLE_CODES = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CHECKREAD',
  'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
]);
/** The server takes no writes any more: another one does, or it will again. Nothing of the transaction is stored. */
const REFUSAL_CODES = new Set([
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
/** A COMMIT that SQLite refuses for these leaves the transaction open, and it is rolled back. */
const SQLITE_REFUSALS = new Set(['SQLITE_BUSY', 'SQLITE_FULL', 'SQLITE_READONLY']);
/**
 * No answer from an address, none of the name server, or no free connection. An unknown name mostly belongs to a
 * container or pod that is stopped. It cannot be told from a wrong name.
 */
const AWAY_CODES = new Set([
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ER_CON_COUNT_ERROR',
  'ETIMEDOUT',
]);
/** The connection ended, or was refused at once, or was given up since its server said nothing for `silenceMs`. */
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
/** The database does not know the statement, or does not allow it (SQLSTATE class 42): somebody must mend that. */
const UNKNOWN_STATE = /^42/;
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

/** Whether a statement has waited for a row for as long as it may. Its transaction goes on. */
export function isLockTimeout(error: unknown): boolean {
  return driverCode(error) === 'ER_LOCK_WAIT_TIMEOUT';
}

/** Whether a statement names a table of a server that is not there. */
export function isMissingTable(error: unknown): boolean {
  return driverCode(error) === 'ER_NO_SUCH_TABLE';
}

/** Whether the server takes no writes any more, on this connection and on every other one to it. */
export function isWriteRefused(error: unknown): boolean {
  return REFUSAL_CODES.has(driverCode(error));
}

/** Whether the connection was lost or could not be had, so that another one may do. */
export function isConnectionLost(error: unknown): boolean {
  const { code, fatal } = driverErrorOf(error) ?? {};
  return typeof code === 'string' ? LOSS_CODES.has(code) : fatal === true;
}

/** Whether a server cannot be reached, or has just been started or stopped. Not so when it refuses us. */
export function isAway(error: unknown): boolean {
  const { code } = driverErrorOf(error) ?? {};
  return isConnectionLost(error) || AWAY_CODES.has(String(code));
}

/** Whether an error that came instead of the answer to a COMMIT says that nothing was stored. */
export function isRolledBack(error: unknown): boolean {
  return isRetryable(error) || isWriteRefused(error) || SQLITE_REFUSALS.has(driverCode(error));
}

/** Whether the database is away, full, read-only or overloaded: the same work may succeed in a while. */
export function isOutage(error: unknown): boolean {
  const { code, sqlState, fatal } = driverErrorOf(error) ?? {};
  const isUnknown = code === SQLITE_ERROR || UNKNOWN_STATE.test(String(sqlState));
  return fatal === true || (isDriverFailure(error) && !isUnknown);
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
