import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import type { Permission } from './permission.js';

/** Metadata that the permissions guard reads. */
export const RequiredPermission = Reflector.createDecorator<string>();

/** Guards a controller or route with a permission and shows it in the OpenAPI document (`x-permission`). */
export const RequirePermission = (permission: Permission): ClassDecorator & MethodDecorator =>
  applyDecorators(
    RequiredPermission(permission),
    ApiBearerAuth('bearer'),
    ApiExtension('x-permission', permission),
  );
