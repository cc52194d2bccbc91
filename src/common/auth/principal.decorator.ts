import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { AuthenticationRequiredError } from './auth.errors.js';
import { principalOf, type Principal } from '../user/principal.js';

/**
 * Parameter of a handler: the authenticated caller, never undefined.
 * @throws AuthenticationRequiredError on a public route, where there is none
 */
export const CurrentPrincipal = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Principal => {
    const principal = principalOf(context.switchToHttp().getRequest<IncomingMessage>());
    if (principal === undefined) {
      throw new AuthenticationRequiredError('missing');
    }
    return principal;
  },
);
