import { Injectable, Optional, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Env } from '../../config/env.js';
import { mayFor } from '../user/grant.js';
import type { Principal } from '../user/principal.js';
import { PermissionDeniedError } from './auth.errors.js';
import { DenialListener } from './denial-listener.js';
import { callerIn } from './principal.decorator.js';
import { isPermissionSetting, RequiredPermission } from './require-permission.decorator.js';

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
