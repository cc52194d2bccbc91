import { TooManyRequestsError } from '../errors/domain.error.js';

/** 429: this address or caller has used up its requests of the minute, or waits too long behind its own bodies (docs/contract.md, section 1). */
export class RateLimitExceededError extends TooManyRequestsError {
  readonly code = 'RATE_LIMIT_EXCEEDED';
  /** @param retryAfterSeconds whole seconds until requests are taken again, at least 1 */
  constructor(readonly retryAfterSeconds: number) {
    super('Too many requests.', `Try again in ${retryAfterSeconds} seconds.`);
  }
}

/** 429: this caller has as many requests under way as it may have in this replica (docs/contract.md, section 1). */
export class TooManyCallerRequestsError extends TooManyRequestsError {
  readonly code = 'TOO_MANY_REQUESTS_UNDER_WAY';
  readonly retryAfterSeconds = 1;
  /** @param most that one caller may have */
  constructor(most: number) {
    super(
      'Too many requests at the same time.',
      `One caller may have ${most} requests under way (HTTP_CALLER_REQUESTS). Try again when others have been answered.`,
    );
  }
}
