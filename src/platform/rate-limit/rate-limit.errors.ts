import type { Limit } from '../config/env.js';
import { TooManyRequestsError } from '../errors/domain.error.js';

/** 429: too many requests per minute, or a wait too long behind other bodies of the caller (docs/contract.md, section 1). */
export class RateLimitExceededError extends TooManyRequestsError {
  readonly code = 'RATE_LIMIT_EXCEEDED';
  readonly limit: string;
  /** @param retryAfterSeconds whole seconds until requests are accepted again, at least 1 */
  constructor(
    { name, max }: Limit,
    readonly retryAfterSeconds: number,
  ) {
    super('Too many requests.', `${name} is ${max}. Try again in ${retryAfterSeconds} seconds.`);
    this.limit = name;
  }
}

/** 429: the caller has too many requests under way (docs/contract.md, section 1). */
export class TooManyCallerRequestsError extends TooManyRequestsError {
  readonly code = 'TOO_MANY_REQUESTS_UNDER_WAY';
  readonly retryAfterSeconds = 1;
  readonly limit: string;
  /** @param limit limit per caller */
  constructor({ name, max }: Limit) {
    super(
      'Too many requests at the same time.',
      `One caller may have ${max} requests under way (${name}). Try again when others have been answered.`,
    );
    this.limit = name;
  }
}
