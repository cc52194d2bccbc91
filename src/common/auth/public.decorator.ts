import { SetMetadata, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const IS_PUBLIC = 'svc:public';

/** Opens a controller or route to callers without a token. Its path must also be in PUBLIC_PATHS. */
export const Public = (): CustomDecorator => SetMetadata(IS_PUBLIC, true);

/** Whether a request is for a public route. */
export function isPublic(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride(IS_PUBLIC, [context.getHandler(), context.getClass()]) === true;
}
