import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { callerKey, principalOf } from '../user/principal.js';
import { RateLimits, type LimitedOperation } from './rate-limits.js';

/** Gives a route its own limit per caller in addition to the general one. */
export const RateLimit = Reflector.createDecorator<LimitedOperation>();

/** Marks a route with long-lived responses and its own limit. Its requests do not count as under way. */
export const LongLivedResponse = Reflector.createDecorator<true>();

/** Global guard that limits the requests of each caller, per minute and under way. Public routes have no caller and no limit. */
@Injectable()
export class PrincipalRateLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limits: RateLimits,
  ) {}

  /** @throws RateLimitExceededError, TooManyCallerRequestsError */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const principal = principalOf(context.switchToHttp().getRequest<IncomingMessage>());
    if (principal === undefined) {
      return true;
    }
    const waiting = this.limits.apply(() => this.enter(callerKey(principal), context));
    return waiting === undefined ? true : waiting.then(() => true);
  }

  private enter(key: string, context: ExecutionContext): Promise<void> | undefined {
    const response = context.switchToHttp().getResponse<ServerResponse>();
    const handler = context.getHandler();
    const operation = this.reflector.get<LimitedOperation | undefined>(RateLimit, handler);
    const isLongLived = this.reflector.get<true | undefined>(LongLivedResponse, handler) !== undefined;
    const { principal, operations, underWay } = this.limits;
    const counts = [principal, operation === undefined ? [] : operations[operation]]
      .flat()
      .map((limiter) => limiter.consume(key, response))
      .filter((count) => count !== undefined);
    // Expensive operations wait for outside parties, so they do not take places from other requests of their caller.
    const enter = (): Promise<void> | undefined =>
      isLongLived ? undefined : underWay.enter(key, response, operation === undefined);
    return counts.length === 0 ? enter() : Promise.all(counts).then(enter);
  }
}
