import { ConflictError } from '../../../../platform/errors/domain.error.js';

/** 409: the response would be too large. */
export class PreflightTooLargeError extends ConflictError {
  readonly code = 'PREFLIGHT_TOO_LARGE';
  constructor() {
    super(
      'The agents have too many tools for one response: split the application, or use servers with fewer tools.',
    );
  }
}
