import { InternalError, UnavailableError, UnknownOutcomeError } from '../platform/errors/domain.error.js';
import { databaseLimits } from './database.limits.js';
import { isDriverFailure } from './connection/driver-errors.js';

const NOTHING_STORED = 'Nothing was stored; try again.';

/** Our own database cannot do its work at present. Nothing of the request is stored. */
abstract class DatabaseFailureError extends UnavailableError {
  readonly retryAfterSeconds = databaseLimits.retryAfterSeconds;
  constructor(problem: string, options?: ErrorOptions) {
    super(`${problem} ${NOTHING_STORED}`, undefined, options);
  }
}

/** The database is away, full, or takes no writes. `cause` is what the driver said. */
export class DatabaseUnavailableError extends DatabaseFailureError {
  readonly code = 'DATABASE_UNAVAILABLE';
  constructor(cause: unknown) {
    super('The database is not available.', { cause });
  }
}

/** Too many wait for a connection (`poolQueue`), or one has waited too long (`poolWaitMs`). */
export class DatabaseOverloadedError extends DatabaseFailureError {
  readonly code = 'DATABASE_OVERLOADED';
  constructor() {
    super('The service is overloaded.');
  }
}

/** The database did not answer within `deadlineMs`. What it is told later is taken back. */
export class DatabaseDeadlineError extends DatabaseFailureError {
  readonly code = 'DATABASE_DEADLINE';
  constructor() {
    super('The database did not answer in time.');
  }
}

/** The answer to a COMMIT did not come, so nobody knows whether the transaction was stored. */
export class CommitUnansweredError extends UnknownOutcomeError {
  readonly code = 'DATABASE_COMMIT_UNANSWERED';
}

/** Work given to `Database` asked `Database` again instead of the manager it was given. A mistake in the code. */
export class NestedDatabaseUseError extends InternalError {
  readonly code = 'DATABASE_NESTED';
  constructor() {
    super('Work on the database must use the manager it was given.');
  }
}

/**
 * Whether an error says nothing about the work during which it came, only about our own database. The database was away,
 * full, read-only, overloaded or too slow, or a table was missing.
 */
export function isDatabaseFailure(error: unknown): boolean {
  return (
    error instanceof DatabaseFailureError || error instanceof CommitUnansweredError || isDriverFailure(error)
  );
}
