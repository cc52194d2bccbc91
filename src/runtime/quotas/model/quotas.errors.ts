import { TooManyRequestsError } from '../../../platform/errors/domain.error.js';
import type { Quota } from './quota.types.js';

const WHO = { APP: 'application', CALLER: 'caller' } as const;

/** 429: an application or a caller has used up a quota (docs/contract.md, section 1). */
export class QuotaExceededError extends TooManyRequestsError {
  readonly code = 'QUOTA_EXCEEDED';
  readonly limit: string;
  /** @param retryAfterSeconds whole seconds after which there may be room, at least 1 */
  constructor(
    { scope, name, limit }: Pick<Quota, 'scope' | 'name' | 'limit'>,
    readonly retryAfterSeconds: number,
  ) {
    super(
      `The quota of the ${WHO[scope]} is used up.`,
      `${name} is ${limit}. Try again in ${retryAfterSeconds} seconds, or ask the operator for more.`,
    );
    this.limit = name;
  }
}
