import { ConflictError, NotFoundError } from '../platform/errors/domain.error.js';

/** A committed application version is read-only. */
export class VersionCommittedError extends ConflictError {
  readonly code = 'VERSION_COMMITTED';
  constructor() {
    super('The application version is committed and can no longer be changed.');
  }
}

/** Nothing is stored for the application version. */
export class VersionNotFoundError extends NotFoundError {
  readonly code = 'VERSION_NOT_FOUND';
  constructor() {
    super('Application version not found.', 'nothing is stored for it');
  }
}

/** A draft version cannot be built. */
export class VersionNotCommittedError extends ConflictError {
  readonly code = 'VERSION_NOT_COMMITTED';
  constructor() {
    super('The application version is a draft: commit it first.');
  }
}
