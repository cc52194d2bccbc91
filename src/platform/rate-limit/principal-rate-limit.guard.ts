import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { callerKey, principalOf } from '../user/principal.js';
import { RateLimits, type LimitedOperation } from './rate-limits.js';

/** Gives a route its own limit per caller, counted besides the general one. */
export const RateLimit = Reflector.createDecorator<LimitedOperation>();

/** The answer of this route lasts, and the route has a limit of its own: its requests are not counted as under way. */
export const LastingAnswer = Reflector.createDecorator<true>();

/** Global guard that limits requests by caller, those of a minute and those under way, after authentication; public routes have no caller and no limit. */
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
    const waiting = this.limits.ask(() => this.enter(callerKey(principal), context));
    return waiting === undefined ? true : waiting.then(() => true);
  }

  private enter(key: string, context: ExecutionContext): Promise<void> | undefined {
    const response = context.switchToHttp().getResponse<ServerResponse>();
    const handler = context.getHandler();
    const operation = this.reflector.get<LimitedOperation | undefined>(RateLimit, handler);
    const isLasting = this.reflector.get<true | undefined>(LastingAnswer, handler) !== undefined;
    const { principal, operations, underWay } = this.limits;
    const counts = [principal, operation === undefined ? [] : operations[operation]]
      .flat()
      .map((limiter) => limiter.consume(key, response))
      .filter((count) => count !== undefined);
    // Costly operations wait for outside parties: a few of them must not hold up the others of their caller.
    const enter = (): Promise<void> | undefined =>
      isLasting ? undefined : underWay.enter(key, response, operation === undefined);
    return counts.length === 0 ? enter() : Promise.all(counts).then(enter);
  }
}
