import { Reflector } from '@nestjs/core';
import type { Settings } from '../../config/env.schema.js';

/** Settings whose values are numbers. */
type NumberSetting = {
  [Name in keyof Settings]: Settings[Name] extends number ? Name : never;
}[keyof Settings];

/** Names the setting that limits the body of a route, in bytes, in place of HTTP_BODY_LIMIT_BYTES. */
export const BodyLimit = Reflector.createDecorator<NumberSetting>();
