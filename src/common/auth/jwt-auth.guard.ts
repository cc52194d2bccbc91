import type { IncomingMessage } from 'node:http';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthenticationRequiredError } from './auth.errors.js';
import { principalOf } from '../user/principal.js';
import { IS_PUBLIC } from './public.decorator.js';

/**
 * Global guard: a route without `@Public()` runs only if the bearer middleware recognised the caller. A mistake in the
 * order or the public paths of the middleware thus closes routes, it never opens one.
 */
@Injectable()
export class JwtAuthGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /** @throws AuthenticationRequiredError */
  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(IS_PUBLIC, targets) === true) {
      return true;
    }
    if (principalOf(context.switchToHttp().getRequest<IncomingMessage>()) === undefined) {
      throw new AuthenticationRequiredError('missing');
    }
    return true;
  }
}
