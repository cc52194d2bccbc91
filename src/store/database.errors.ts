import { InternalError, UnavailableError, UnknownOutcomeError } from '../platform/errors/domain.error.js';
import { databaseLimits } from './database.limits.js';
import { isDriverFailure } from './connection/driver-errors.js';

const NOTHING_STORED = 'Nothing was stored; try again.';

/** The service's own database is temporarily unusable. Nothing of the request was stored. */
abstract class DatabaseFailureError extends UnavailableError {
  readonly retryAfterSeconds = databaseLimits.retryAfterSeconds;
  constructor(problem: string, options?: ErrorOptions) {
    super(`${problem} ${NOTHING_STORED}`, undefined, options);
  }
}

/** The database is unavailable, full or read-only. `cause` is the error of the driver. */
export class DatabaseUnavailableError extends DatabaseFailureError {
  readonly code = 'DATABASE_UNAVAILABLE';
  constructor(cause: unknown) {
    super('The database is not available.', { cause });
  }
}

/** Too many callers wait for a connection (`poolQueue`), or one has waited too long (`poolWaitMs`). */
export class DatabaseOverloadedError extends DatabaseFailureError {
  readonly code = 'DATABASE_OVERLOADED';
  constructor() {
    super('The service is overloaded.');
  }
}

/** The database did not answer within `deadlineMs`. The transaction is rolled back. */
export class DatabaseDeadlineError extends DatabaseFailureError {
  readonly code = 'DATABASE_DEADLINE';
  constructor() {
    super('The database did not answer in time.');
  }
}

/** The database did not answer a COMMIT, so it is unknown whether the transaction was stored. */
export class CommitUnansweredError extends UnknownOutcomeError {
  readonly code = 'DATABASE_COMMIT_UNANSWERED';
}

/** Work run by `Database` called `Database` again instead of using the manager that it received. A programming error. */
export class NestedDatabaseUseError extends InternalError {
  readonly code = 'DATABASE_NESTED';
  constructor() {
    super('Work on the database must use the manager it was given.');
  }
}

/**
 * Reports whether an error was caused by the database rather than the work: it was unavailable, full, read-only, overloaded or
 * too slow, or a table was missing.
 */
export function isDatabaseFailure(error: unknown): boolean {
  return (
    error instanceof DatabaseFailureError || error instanceof CommitUnansweredError || isDriverFailure(error)
  );
}
