import { UnavailableError } from '../../../common/errors/domain.error.js';

/** Redis does not answer what the board asks it. */
export class BoardSilentError extends UnavailableError {
  readonly code = 'JOB_BOARD_SILENT';
  readonly retryAfterSeconds = 5;
  constructor() {
    super('Redis does not answer.');
  }
}
