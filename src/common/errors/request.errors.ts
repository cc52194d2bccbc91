import { InvalidRequestError, NotFoundError } from './domain.error.js';

/** One broken rule: the path of the field and what it must be. */
export interface FieldProblem {
  field: string;
  rule: string;
}

/** Fields of the request break their rules. `details` names each. */
export class ValidationFailedError extends InvalidRequestError {
  readonly code = 'VALIDATION_FAILED';
  /** @param message the contract's own text where one of the rules has one */
  constructor(problems: FieldProblem[], message = 'Request validation failed.') {
    super(message, problems.map(({ field, rule }) => `${field}: ${rule}`).join('; '));
  }
}

/** The body cannot be read at all: wrong content type, too large, or not a JSON object. */
export class UnreadableBodyError extends InvalidRequestError {
  readonly code = 'UNREADABLE_BODY';
}

/** No route of ours has this method and path. */
export class RouteNotFoundError extends NotFoundError {
  readonly code = 'ROUTE_NOT_FOUND';
  constructor() {
    super('No such endpoint.');
  }
}
