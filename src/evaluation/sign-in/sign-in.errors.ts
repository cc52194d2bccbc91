import { ForbiddenError, InvalidRequestError } from '../../common/errors/domain.error.js';

/** 403: whoever asks is no page that this service has sent to a browser of this machine. */
export class ForeignPageError extends ForbiddenError {
  readonly code = 'FOREIGN_PAGE';
  constructor() {
    super('Only the console of this service may sign in here.');
  }
}

/** 400: a text cannot be the name of a permission. */
export class PermissionNameInvalidError extends InvalidRequestError {
  readonly code = 'PERMISSION_NAME_INVALID';
  constructor(details: string) {
    super('Request validation failed.', details);
  }
}
