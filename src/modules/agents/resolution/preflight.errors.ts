import { ConflictError } from '../../../common/errors/domain.error.js';

/** The answer would name more agents and tools than one answer can hold. */
export class PreflightTooLargeError extends ConflictError {
  readonly code = 'PREFLIGHT_TOO_LARGE';
  constructor() {
    super(
      'The agents and their tools are too many for one answer: divide the application, or give agents servers of fewer tools.',
    );
  }
}
