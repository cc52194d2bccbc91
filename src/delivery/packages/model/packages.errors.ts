import { InvalidRequestError, UnavailableError } from '../../../platform/errors/domain.error.js';

/** Too many packages are waiting (`queue`), or there is no thread because the machine is too busy or the service stops. */
export class PackageChecksBusyError extends UnavailableError {
  readonly code = 'PACKAGE_CHECKS_BUSY';
  readonly retryAfterSeconds = 5;
  constructor() {
    super('Too many application packages are waiting to be checked. Nothing was stored; try again.');
  }
}

/** The workflow has no sequence of this id. */
export class SequenceNotFoundError extends InvalidRequestError {
  readonly code = 'SEQUENCE_NOT_FOUND';
  constructor() {
    super('Request validation failed.', 'onSequence: must be the id of a sequence of the workflow');
  }
}
