import {
  InvalidRequestError,
  MethodNotAllowedError,
  NotFoundError,
  PreconditionFailedError,
  PreconditionRequiredError,
  UnknownOutcomeError,
} from './domain.error.js';

/** One broken rule: the path of the field and the rule for its value. */
export interface FieldProblem {
  field: string;
  rule: string;
}

/** Limits of `details`: a body can break rules in thousands of places, and callers choose the names of fields. */
const MAX_PROBLEMS = 20;
const MAX_FIELD_LENGTH = 128;

/** Fields of the request break their rules. `details` names the first 20. */
export class ValidationFailedError extends InvalidRequestError {
  readonly code = 'VALIDATION_FAILED';
  constructor(problems: FieldProblem[], message = 'Request validation failed.') {
    super(message, describe(problems));
  }
}

function describe(problems: FieldProblem[]): string {
  const named = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ field, rule }) => `${field.slice(0, MAX_FIELD_LENGTH)}: ${rule}`);
  const more = problems.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** The body cannot be read at all: wrong content type, too large, or not a JSON object. */
export class UnreadableBodyError extends InvalidRequestError {
  readonly code = 'UNREADABLE_BODY';
}

/** A request failed after part of it was stored; `cause` is the reason. A retry may store that part twice. */
export class InterruptedAfterStoringError extends UnknownOutcomeError {
  readonly code = 'INTERRUPTED_AFTER_STORING';
}

/** A route has this path, but not this method. */
export class WrongMethodError extends MethodNotAllowedError {
  readonly code = 'WRONG_METHOD';
  constructor(readonly allowed: string) {
    super('This endpoint has no such method.', `Allowed methods: ${allowed}.`);
  }
}

/** The state that `If-Match` names is no longer the current one. */
export class ChangedMeanwhileError extends PreconditionFailedError {
  readonly code = 'CHANGED_MEANWHILE';
  constructor() {
    super('It was changed meanwhile: read it again.', 'If-Match');
  }
}

/** A change lacks `If-Match`, which HTTP_REQUIRE_IF_MATCH requires. */
export class IfMatchRequiredError extends PreconditionRequiredError {
  readonly code = 'IF_MATCH_REQUIRED';
  constructor() {
    super('If-Match is required: send the ETag of what was read.', 'HTTP_REQUIRE_IF_MATCH');
  }
}

/** No route has this method and path. */
export class RouteNotFoundError extends NotFoundError {
  readonly code = 'ROUTE_NOT_FOUND';
  constructor() {
    super('No such endpoint.');
  }
}
