import type { IncomingMessage } from 'node:http';
import { type ExecutionContext, Injectable, type CanActivate, Optional } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { type Principal, principalOf } from '../user/principal.js';
import { callerIn, isPublic, isPermissionSetting, RequiredPermission } from './access.decorators.js';
import { Env } from '../config/env.js';
import { mayFor } from '../user/grant.js';
import { PermissionDeniedError } from './auth.errors.js';

/** Is notified of every call that is denied for lack of a permission. The audit log implements it. Injected by class. */
export abstract class DenialListener {
  /** Must return immediately and not throw, because the 403 is sent after it. */
  abstract denied(context: ExecutionContext, principal: Principal, permission: string): void;
}

/**
 * Global guard: a route without `@Public()` runs only if the bearer middleware authenticated the caller. A mistake in
 * the order or the public paths of the middleware can therefore close routes, but never open one.
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

/**
 * Global guard behind `@RequirePermission`. Routes without it require only a valid token. If the path names an
 * application (`appId`), the permission must be granted for it. Otherwise a grant for any application suffices here,
 * and the service checks the application of what it finds.
 */
@Injectable()
export class PermissionsGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly env: Env,
    @Optional() private readonly listener?: DenialListener,
  ) {}

  /** @throws PermissionDeniedError */
  canActivate(context: ExecutionContext): boolean {
    const permission = this.requiredBy(context);
    if (permission === undefined) {
      return true;
    }
    const principal = callerIn(context);
    if (!isPermitted(context, principal, permission)) {
      this.listener?.denied(context, principal, permission);
      throw new PermissionDeniedError(permission);
    }
    return true;
  }

  private requiredBy(context: ExecutionContext): string | undefined {
    const targets = [context.getHandler(), context.getClass()];
    const required = this.reflector.getAllAndOverride(RequiredPermission, targets);
    return required !== undefined && isPermissionSetting(required) ? this.env.get(required) : required;
  }
}

function isPermitted(context: ExecutionContext, principal: Principal, permission: string): boolean {
  const { appId } = context.switchToHttp().getRequest<Request>().params;
  return typeof appId === 'string'
    ? mayFor(principal, permission, appId)
    : principal.permissions.has(permission);
}
