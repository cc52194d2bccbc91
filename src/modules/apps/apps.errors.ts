import { ConflictError } from '../../common/errors/domain.error.js';

/** A committed application version is read-only. */
export class VersionCommittedError extends ConflictError {
  readonly code = 'VERSION_COMMITTED';
  constructor() {
    super('The application version is committed and can no longer be changed.');
  }
}
