import { UnavailableError } from '../../../common/errors/domain.error.js';

/** Too many packages wait for their check (PACKAGE_CHECK_QUEUE), or there is no thread: the machine is too busy, or the service stops. */
export class PackageChecksBusyError extends UnavailableError {
  readonly code = 'PACKAGE_CHECKS_BUSY';
  readonly retryAfterSeconds = 5;
  constructor() {
    super('Too many application packages wait for their check. Nothing was stored; try again.');
  }
}
