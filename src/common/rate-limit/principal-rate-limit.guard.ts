import type { IncomingMessage } from 'node:http';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { principalOf } from '../user/principal.js';
import { RateLimit } from './rate-limit.decorator.js';
import { RateLimits, type LimitedOperation } from './rate-limits.js';

/** Global guard that limits requests by caller, after authentication; public routes have no caller and no limit. */
@Injectable()
export class PrincipalRateLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limits: RateLimits,
  ) {}

  /** @throws RateLimitExceededError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const principal = principalOf(context.switchToHttp().getRequest<IncomingMessage>());
    if (principal === undefined) {
      return true;
    }
    const key = JSON.stringify([principal.issuer, principal.subject]);
    await this.limits.principal.consume(key);
    const operation = this.reflector.get<LimitedOperation | undefined>(RateLimit, context.getHandler());
    if (operation !== undefined) {
      await this.limits.operations[operation].consume(key);
    }
    return true;
  }
}
