import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import type { Settings } from '../../config/env.schema.js';
import { Permission } from './permission.js';

/** Settings whose value may be the name of a permission. */
type PermissionSetting = {
  [Name in keyof Settings]-?: Name extends `${string}_PERMISSION` ? Name : never;
}[keyof Settings];

/** A permission, or the setting that names one; without a value of the setting any valid token will do. */
type PermissionOrSetting = Permission | PermissionSetting;

/** Metadata that the permissions guard reads. */
export const RequiredPermission = Reflector.createDecorator<PermissionOrSetting>();

/**
 * Guards a controller or route with a permission, and shows the permission in the OpenAPI document (docs/contract.md,
 * section 1). It stands there as `x-permission`, or as `x-permission-setting` where the deployment chooses.
 */
export const RequirePermission = (required: PermissionOrSetting): ClassDecorator & MethodDecorator =>
  applyDecorators(RequiredPermission(required), ShowsPermission(required));

/** Shows a permission in the document like `RequirePermission`, where the service and no guard asks for it. */
export const ShowsPermission = (required: PermissionOrSetting): ClassDecorator & MethodDecorator =>
  applyDecorators(
    ApiBearerAuth('bearer'),
    ApiExtension(isPermissionSetting(required) ? 'x-permission-setting' : 'x-permission', required),
  );

/** Whether the deployment chooses the permission. */
export function isPermissionSetting(required: PermissionOrSetting): required is PermissionSetting {
  return required.endsWith('_PERMISSION');
}
