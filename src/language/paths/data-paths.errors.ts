import { InvalidRequestError } from '../../common/errors/domain.error.js';

/** 400: a path into process data that nobody can follow. The message names the mistake. */
export class InvalidDataPathError extends InvalidRequestError {
  readonly code = 'DATA_PATH_INVALID';
}

/** 400: data that must not become process data: a key that reaches a prototype, or nesting without end. */
export class InvalidDataError extends InvalidRequestError {
  readonly code = 'DATA_INVALID';
}
