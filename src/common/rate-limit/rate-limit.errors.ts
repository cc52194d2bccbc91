import { TooManyRequestsError } from '../errors/domain.error.js';

/** 429: this address or caller has used up its requests of the minute (docs/contract.md, section 1). */
export class RateLimitExceededError extends TooManyRequestsError {
  readonly code = 'RATE_LIMIT_EXCEEDED';
  /** @param retryAfterSeconds whole seconds until requests are taken again, at least 1 */
  constructor(readonly retryAfterSeconds: number) {
    super('Too many requests.', `Try again in ${retryAfterSeconds} seconds.`);
  }
}
