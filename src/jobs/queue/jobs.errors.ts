import { InternalError } from '../../platform/errors/domain.error.js';

/** The job was cancelled or another worker has it, so this run must not store anything. */
export class LeaseLostError extends InternalError {
  readonly code = 'JOB_LEASE_LOST';
  constructor() {
    super('The job is no longer held by this worker.');
  }
}

/** Thrown by a handler when retrying is pointless. `cause` is the error that `giveUp` should report. */
export class JobGiveUpError extends InternalError {
  readonly code: string = 'JOB_GIVEN_UP';
  constructor(message: string, options?: ErrorOptions) {
    super(message, undefined, options);
  }
}

/**
 * Thrown by a handler when the job must wait although nothing failed. Does not count as an attempt.
 * @param waitMs milliseconds until the next run, capped at `retryMaxMs`
 */
export class JobPutOffError extends InternalError {
  readonly code = 'JOB_PUT_OFF';
  constructor(
    readonly waitMs: number,
    options?: ErrorOptions,
  ) {
    super('The job must wait.', undefined, options);
  }
}

/**
 * The job is given up without another run: `maxCrashes` runs crashed, or `maxAttempts` runs failed and `giveUp` failed after the
 * last one.
 */
export class JobAttemptsUsedUpError extends JobGiveUpError {
  override readonly code = 'JOB_ATTEMPTS_USED_UP';
  constructor() {
    super('Every attempt ended without a result.');
  }
}

/** A handler returned without completing its job, which is a programming error. */
export class JobNotCompletedError extends InternalError {
  readonly code = 'JOB_NOT_COMPLETED';
  constructor() {
    super('The handler returned without completing its job.');
  }
}

/** The replica is stopping and can no longer wait. Reason of an aborted `JobContext.signal`. */
export class JobStoppedError extends InternalError {
  readonly code = 'JOB_STOPPED';
  constructor() {
    super('The replica is stopping.');
  }
}

/** A job cannot be stored, which is a programming error. */
export class InvalidJobError extends InternalError {
  readonly code = 'JOB_INVALID';
}
