import type { IncomingMessage } from 'node:http';
import {
  createParamDecorator,
  type ArgumentsHost,
  SetMetadata,
  type CustomDecorator,
  type ExecutionContext,
  applyDecorators,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import { AuthenticationRequiredError } from './auth.errors.js';
import { principalOf, type Principal } from '../user/principal.js';
import type { Settings } from '../config/env.schema.js';
import { Permission } from './permission.js';

/**
 * Returns the authenticated caller of a request.
 * @throws AuthenticationRequiredError when the bearer middleware authenticated nobody, as on public routes
 */
export function callerIn(host: ArgumentsHost): Principal {
  const principal = principalOf(host.switchToHttp().getRequest<IncomingMessage>());
  if (principal === undefined) {
    throw new AuthenticationRequiredError('missing');
  }
  return principal;
}

/** Handler parameter: the authenticated caller; never undefined, see `callerIn`. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context) => callerIn(context));

const IS_PUBLIC = 'svc:public';

/** Opens a controller or route to callers without a token. Its path must also be in PUBLIC_PATHS. */
export const Public = (): CustomDecorator => SetMetadata(IS_PUBLIC, true);

/** Returns whether a request is for a public route. */
export function isPublic(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride(IS_PUBLIC, [context.getHandler(), context.getClass()]) === true;
}

type PermissionSetting = {
  [Name in keyof Settings]-?: Name extends `${string}_PERMISSION` ? Name : never;
}[keyof Settings];

/** A permission, or the setting that names one. If the setting is empty, any valid token suffices. */
type PermissionOrSetting = Permission | PermissionSetting;

/** Metadata that the permissions guard reads. */
export const RequiredPermission = Reflector.createDecorator<PermissionOrSetting>();

/**
 * Guards a controller or route with a permission, and documents it in OpenAPI (docs/contract.md, section 1) as
 * `x-permission`, or as `x-permission-setting` if the deployment chooses the permission.
 */
export const RequirePermission = (required: PermissionOrSetting): ClassDecorator & MethodDecorator =>
  applyDecorators(RequiredPermission(required), ShowsPermission(required));

/** Documents a permission as `RequirePermission` does, for routes where the service checks it instead of a guard. */
export const ShowsPermission = (required: PermissionOrSetting): ClassDecorator & MethodDecorator =>
  applyDecorators(
    ApiBearerAuth('bearer'),
    ApiExtension(isPermissionSetting(required) ? 'x-permission-setting' : 'x-permission', required),
  );

/** Returns whether a setting chooses the permission. */
export function isPermissionSetting(required: PermissionOrSetting): required is PermissionSetting {
  return required.endsWith('_PERMISSION');
}
