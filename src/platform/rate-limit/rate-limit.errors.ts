import type { Limit } from '../config/env.js';
import { TooManyRequestsError } from '../errors/domain.error.js';

/** 429: this address or caller has used up its requests of the minute, or waits too long behind its own bodies (docs/contract.md, section 1). */
export class RateLimitExceededError extends TooManyRequestsError {
  readonly code = 'RATE_LIMIT_EXCEEDED';
  readonly limit: string;
  /** @param retryAfterSeconds whole seconds until requests are taken again, at least 1 */
  constructor(
    { name, most }: Limit,
    readonly retryAfterSeconds: number,
  ) {
    super('Too many requests.', `${name} is ${most}. Try again in ${retryAfterSeconds} seconds.`);
    this.limit = name;
  }
}

/** 429: this caller has as many requests under way as it may have (docs/contract.md, section 1). */
export class TooManyCallerRequestsError extends TooManyRequestsError {
  readonly code = 'TOO_MANY_REQUESTS_UNDER_WAY';
  readonly retryAfterSeconds = 1;
  readonly limit: string;
  /** @param limit of one caller */
  constructor({ name, most }: Limit) {
    super(
      'Too many requests at the same time.',
      `One caller may have ${most} requests under way (${name}). Try again when others have been answered.`,
    );
    this.limit = name;
  }
}
