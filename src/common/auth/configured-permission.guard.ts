import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Env } from '../../config/env.js';
import { PermissionDeniedError } from './auth.errors.js';
import { ConfiguredPermission } from './configured-permission.decorator.js';
import { principalOf } from '../user/principal.js';

/** Guard behind `@ConfiguredPermission`, for routes whose permission the deployment chooses (docs/contract.md, section 1). */
@Injectable()
export class ConfiguredPermissionGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly env: Env,
  ) {}

  /** @throws PermissionDeniedError */
  canActivate(context: ExecutionContext): boolean {
    const setting = this.reflector.get(ConfiguredPermission, context.getHandler());
    const permission = setting === undefined ? undefined : this.env.get(setting);
    const principal = principalOf(context.switchToHttp().getRequest<Request>());
    if (permission !== undefined && principal?.permissions.has(permission) !== true) {
      throw new PermissionDeniedError(permission);
    }
    return true;
  }
}
