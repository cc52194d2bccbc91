import { QueryFailedError } from 'typeorm';

/**
 * SQLSTATE of a statement that the server does not know, or does not support, as TiDB says of SKIP LOCKED. It is class
 * 42 of ISO/IEC 9075, "syntax error or access rule violation".
 */
const UNKNOWN_STATEMENT = '42000';

/** Whether a server does not know the statement that it got, such as SKIP LOCKED before MySQL 8 and MariaDB 10.6. */
export function isUnknownStatement(error: unknown): boolean {
  return (
    error instanceof QueryFailedError &&
    (error.driverError as { sqlState?: unknown }).sqlState === UNKNOWN_STATEMENT
  );
}
