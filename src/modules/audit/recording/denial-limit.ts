import { Injectable } from '@nestjs/common';
import { callerFingerprint, type Principal } from '../../../common/user/principal.js';
import { RateLimiter } from '../../../common/rate-limit/rate-limiter.js';
import { auditLimits } from '../audit.limits.js';

/**
 * Refusals of one caller that are recorded: at most `denialsPerMinute` of whatever kind. Rows are kept for ever, and who may
 * do nothing must not be able to fill the database. Beyond the limit the request log alone tells of them.
 */
@Injectable()
export class DenialLimit {
  private readonly limiter = new RateLimiter({
    name: 'audit-denials-per-minute',
    most: auditLimits.denialsPerMinute,
  });

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
