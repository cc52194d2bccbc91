import { DomainError, InternalError, InvalidRequestError } from '#engine/errors';

export { DomainError, InternalError, InvalidRequestError };

/** 401: no caller could be recognised (RFC 6750, section 3). */
export abstract class UnauthorizedError extends DomainError {
  /** A label of metrics, so out of a closed and small set. */
  abstract readonly reason: string;
  /** The WWW-Authenticate header (RFC 6750, section 3). */
  abstract readonly challenge: string;
}

/** 403: the caller is known and may not do this. */
export abstract class ForbiddenError extends DomainError {}

/** 404: what the path names does not exist. */
export abstract class NotFoundError extends DomainError {}

/** 405: what the path names has other methods; they become the Allow header (RFC 9110, section 15.5.6). */
export abstract class MethodNotAllowedError extends DomainError {
  abstract readonly allowed: string;
}

/** 409: the request is right but stored data stands against it. */
export abstract class ConflictError extends DomainError {}

/** 412: what is stored is another than the request says (RFC 9110, section 15.5.13). */
export abstract class PreconditionFailedError extends DomainError {}

/** 428: the request must say on what state it is made (RFC 6585, section 3). */
export abstract class PreconditionRequiredError extends DomainError {}

/** 429: too many requests; `retryAfterSeconds` becomes the Retry-After header (RFC 9110, section 10.2.3). */
export abstract class TooManyRequestsError extends DomainError {
  /** Name of the limit: a label of metrics. `details` tells it too. */
  abstract readonly limit: string;
  abstract readonly retryAfterSeconds: number;
}

/** 503: not now, and not here; `retryAfterSeconds` becomes the Retry-After header (RFC 9110, section 15.6.4). */
export abstract class UnavailableError extends DomainError {
  abstract readonly retryAfterSeconds: number;
}

/** 500: the caller must know that the request, whose outcome is unknown, may have taken effect. */
export abstract class UnknownOutcomeError extends InternalError {
  constructor(options?: ErrorOptions) {
    super(
      'The server could not complete the request. What was asked for may have been stored.',
      undefined,
      options,
    );
  }
}
