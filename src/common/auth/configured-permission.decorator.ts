import { Reflector } from '@nestjs/core';
import type { Settings } from '../../config/env.schema.js';

/** Settings whose value may be the name of a permission. */
export type PermissionSetting = {
  [Name in keyof Settings]: Name extends `${string}_PERMISSION` ? Name : never;
}[keyof Settings];

/** Names the setting that says which permission a route asks for; without a value any valid token will do. */
export const ConfiguredPermission = Reflector.createDecorator<PermissionSetting>();
