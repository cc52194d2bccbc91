import { InternalError, NotFoundError } from '../../../common/errors/domain.error.js';

/** 500: no scan that began after the request was completed within `requestTimeoutMs`. */
export class ScanTimeoutError extends InternalError {
  readonly code = 'DISCOVERY_TIMEOUT';
  constructor() {
    super('The platform was not scanned in time.');
  }
}

/** 500, as the contract says of a rescan: the scan cannot be made or stored, because the database is away. */
export class ScanNotStoredError extends InternalError {
  readonly code = 'DISCOVERY_NOT_STORED';
  constructor(cause: unknown) {
    super('The platform could not be scanned.', undefined, { cause });
  }
}

/** Another replica took over because this one was not heard of for too long. The findings of this one are not stored. */
export class ScanLostError extends InternalError {
  readonly code = 'DISCOVERY_LOST';
  constructor() {
    super('Another replica scans in the place of this one.');
  }
}

/** 404: there is no scan of this number, or none any more. */
export class ScanNotFoundError extends NotFoundError {
  readonly code = 'SCAN_NOT_FOUND';
  constructor() {
    super('Scan not found.');
  }
}
