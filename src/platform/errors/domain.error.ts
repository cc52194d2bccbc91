import { DomainError, InternalError, InvalidRequestError } from '#engine/errors';

export { DomainError, InternalError, InvalidRequestError };

/** 401: the caller could not be authenticated (RFC 6750, section 3). */
export abstract class UnauthorizedError extends DomainError {
  /** Label of metrics, so the set of values must be closed and small. */
  abstract readonly reason: string;
  /** The WWW-Authenticate header (RFC 6750, section 3). */
  abstract readonly challenge: string;
}

/** 403: the caller is authenticated, but not permitted to do this. */
export abstract class ForbiddenError extends DomainError {}

/** 404: the resource that the path names does not exist. */
export abstract class NotFoundError extends DomainError {}

/** 405: the resource has other methods; they become the Allow header (RFC 9110, section 15.5.6). */
export abstract class MethodNotAllowedError extends DomainError {
  abstract readonly allowed: string;
}

/** 409: the request is valid, but conflicts with stored data. */
export abstract class ConflictError extends DomainError {}

/** 412: the stored state is not the one that the request expects (RFC 9110, section 15.5.13). */
export abstract class PreconditionFailedError extends DomainError {}

/** 428: the request must name the state that it expects (RFC 6585, section 3). */
export abstract class PreconditionRequiredError extends DomainError {}

/** 429: too many requests; `retryAfterSeconds` becomes the Retry-After header (RFC 9110, section 10.2.3). */
export abstract class TooManyRequestsError extends DomainError {
  /** Name of the limit, for metrics and `details`. */
  abstract readonly limit: string;
  abstract readonly retryAfterSeconds: number;
}

/**
 * 503: temporarily unavailable on this replica; `retryAfterSeconds` becomes the Retry-After header (RFC 9110, section
 * 15.6.4).
 */
export abstract class UnavailableError extends DomainError {
  abstract readonly retryAfterSeconds: number;
}

/** 500: the outcome of the request is unknown, and the caller must know that it may have taken effect. */
export abstract class UnknownOutcomeError extends InternalError {
  constructor(options?: ErrorOptions) {
    super(
      'The server could not complete the request. What was asked for may have been stored.',
      undefined,
      options,
    );
  }
}
