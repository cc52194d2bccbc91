import type { IncomingMessage } from 'node:http';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { principalOf } from '../user/principal.js';
import { callerIn } from './principal.decorator.js';
import { isPublic } from './public.decorator.js';

/**
 * Global guard: a route without `@Public()` runs only if the bearer middleware recognised the caller. A mistake in the
 * order or the public paths of the middleware thus closes routes, it never opens one.
 */
@Injectable()
export class JwtAuthGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /** @throws AuthenticationRequiredError */
  canActivate(context: ExecutionContext): boolean {
    const principal = principalOf(context.switchToHttp().getRequest<IncomingMessage>());
    return principal !== undefined || isPublic(this.reflector, context) || callerIn(context) !== undefined;
  }
}
