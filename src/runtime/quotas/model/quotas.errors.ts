import { TooManyRequestsError } from '../../../platform/errors/domain.error.js';
import type { Quota } from './quota.types.js';

const OWNER = { APP: 'application', CALLER: 'caller' } as const;

/** 429: an application or a caller has used up a quota (docs/contract.md, section 1). */
export class QuotaExceededError extends TooManyRequestsError {
  readonly code = 'QUOTA_EXCEEDED';
  readonly limit: string;
  /** @param retryAfterSeconds seconds after which a retry may succeed; a whole number, at least 1 */
  constructor(
    { scope, name, limit }: Pick<Quota, 'scope' | 'name' | 'limit'>,
    readonly retryAfterSeconds: number,
  ) {
    super(
      `The quota of the ${OWNER[scope]} is used up.`,
      `${name} is ${limit}. Try again in ${retryAfterSeconds} seconds, or ask the operator to raise the quota.`,
    );
    this.limit = name;
  }
}
