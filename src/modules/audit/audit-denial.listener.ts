import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { DenialListener } from '../../common/auth/denial-listener.js';
import { callerFingerprint, type Principal } from '../../common/auth/principal.js';
import { RateLimiter } from '../../common/rate-limit/rate-limiter.js';
import { Env } from '../../config/env.js';
import { AuditOutcome } from './audit.types.js';
import { Audited } from './audited.decorator.js';
import { RefusedCalls } from './refused-calls.js';

/**
 * Records calls of `@Audited` routes that were refused for want of a permission, of one caller at most
 * `AUDIT_DENIALS_PER_MINUTE`: rows are kept for ever, and who may do nothing must not be able to fill the database.
 */
@Injectable()
export class AuditDenialListener extends DenialListener {
  private readonly limiter: RateLimiter;

  constructor(
    private readonly reflector: Reflector,
    private readonly refused: RefusedCalls,
    env: Env,
  ) {
    super();
    this.limiter = new RateLimiter(env.get('AUDIT_DENIALS_PER_MINUTE'));
  }

  override denied(context: ExecutionContext, principal: Principal, permission: string): void {
    const action = this.reflector.get(Audited, context.getHandler());
    if (action !== undefined) {
      const request = context.switchToHttp().getRequest<Request>();
      const refusal = { action, outcome: AuditOutcome.Denied, details: { permission } };
      this.limiter.consume(callerFingerprint(principal)).then(
        () => this.refused.record(principal, request, refusal),
        // Beyond the limit the request log alone tells of it.
        () => undefined,
      );
    }
  }
}
