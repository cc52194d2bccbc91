import type { IncomingMessage } from 'node:http';
import { type ExecutionContext, Injectable, type CanActivate, Optional } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { type Principal, principalOf } from '../user/principal.js';
import { callerIn, isPublic, isPermissionSetting, RequiredPermission } from './access.decorators.js';
import { Env } from '../config/env.js';
import { mayFor } from '../user/grant.js';
import { PermissionDeniedError } from './auth.errors.js';

/** Hears of every call that was refused for want of a permission; the audit log provides one. Injected by class. */
export abstract class DenialListener {
  /** Must return at once and not throw: the caller's 403 does not wait for it. */
  abstract denied(context: ExecutionContext, principal: Principal, permission: string): void;
}

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

/**
 * Global guard behind `@RequirePermission`. Routes without it need only a valid token. Where the path names an application
 * (`appId`), the permission must be granted for this one. Elsewhere one application is enough here: the service asks by the
 * application of what it found.
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
    if (!mayEnter(context, principal, permission)) {
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

function mayEnter(context: ExecutionContext, principal: Principal, permission: string): boolean {
  const { appId } = context.switchToHttp().getRequest<Request>().params;
  return typeof appId === 'string'
    ? mayFor(principal, permission, appId)
    : principal.permissions.has(permission);
}
