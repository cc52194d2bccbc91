import { Injectable, Optional, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { AuthenticationRequiredError, PermissionDeniedError } from './auth.errors.js';
import { DenialListener } from './denial-listener.js';
import { principalOf } from '../user/principal.js';
import { RequiredPermission } from './require-permission.decorator.js';

/** Global guard behind `@RequirePermission`. Routes without it need only a valid token. */
@Injectable()
export class PermissionsGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @Optional() private readonly listener?: DenialListener,
  ) {}

  /** @throws PermissionDeniedError */
  canActivate(context: ExecutionContext): boolean {
    const permission = this.reflector.getAllAndOverride(RequiredPermission, [
      context.getHandler(),
      context.getClass(),
    ]) as string | undefined;
    if (permission === undefined) {
      return true;
    }
    const request = context.switchToHttp().getRequest<Request>();
    const principal = principalOf(request);
    if (principal === undefined) {
      throw new AuthenticationRequiredError('missing');
    }
    if (!principal.permissions.has(permission)) {
      this.listener?.denied(context, principal, permission);
      throw new PermissionDeniedError(permission);
    }
    return true;
  }
}
