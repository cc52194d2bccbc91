import { Injectable } from '@nestjs/common';
import { callerFingerprint, type Principal } from '../../../common/user/principal.js';
import { RateLimiter } from '../../../common/rate-limit/rate-limiter.js';
import { Env } from '../../../config/env.js';

/**
 * Refusals of one caller that are recorded: at most `AUDIT_DENIALS_PER_MINUTE` of whatever kind. Rows are kept for ever, and who may
 * do nothing must not be able to fill the database. Beyond the limit the request log alone tells of them.
 */
@Injectable()
export class DenialLimit {
  private readonly limiter: RateLimiter;

  constructor(env: Env) {
    this.limiter = new RateLimiter(env.limit('AUDIT_DENIALS_PER_MINUTE'));
  }

  /** Counts one refusal. @returns whether it is to be recorded */
  admits(principal: Principal): boolean {
    try {
      void this.limiter.consume(callerFingerprint(principal));
      return true;
    } catch {
      return false;
    }
  }
}
