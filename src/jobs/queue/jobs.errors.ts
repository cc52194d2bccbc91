import { InternalError } from '../../platform/errors/domain.error.js';

/** The job was cancelled or another worker has it: nothing of this run may be stored. */
export class LeaseLostError extends InternalError {
  readonly code = 'JOB_LEASE_LOST';
  constructor() {
    super('The job is no longer held by this worker.');
  }
}

/** Thrown by a handler to say that trying again is pointless; `cause` is what `giveUp` should tell about. */
export class JobGiveUpError extends InternalError {
  readonly code: string = 'JOB_GIVEN_UP';
  constructor(message: string, options?: ErrorOptions) {
    super(message, undefined, options);
  }
}

/**
 * Thrown by a handler to say that the job must wait: no fault of it or its surroundings. Counts as no attempt.
 * @param waitMs milliseconds until it is run again; at most `retryMaxMs` pass
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
 * A job is not run again. `maxCrashes` runs of it ended with their process, or `maxAttempts` failed and giving it up
 * did not succeed at once.
 */
export class JobAttemptsUsedUpError extends JobGiveUpError {
  override readonly code = 'JOB_ATTEMPTS_USED_UP';
  constructor() {
    super('Every attempt ended without a result.');
  }
}

/** A handler returned without having completed its job. A mistake in the code. */
export class JobNotCompletedError extends InternalError {
  readonly code = 'JOB_NOT_COMPLETED';
  constructor() {
    super('The handler returned without completing its job.');
  }
}

/** The replica stops and cannot wait any longer; reason of an aborted `JobContext.signal`. */
export class JobStoppedError extends InternalError {
  readonly code = 'JOB_STOPPED';
  constructor() {
    super('The replica is stopping.');
  }
}

/** A job cannot be stored as it is. A mistake in the code. */
export class InvalidJobError extends InternalError {
  readonly code = 'JOB_INVALID';
}
