import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ArgumentsHost } from '@nestjs/common';
import { AuthenticationRequiredError } from './auth.errors.js';
import { principalOf, type Principal } from '../user/principal.js';

/**
 * The authenticated caller of a request.
 * @throws AuthenticationRequiredError where the bearer middleware recognised nobody, as on public routes
 */
export function callerIn(host: ArgumentsHost): Principal {
  const principal = principalOf(host.switchToHttp().getRequest<IncomingMessage>());
  if (principal === undefined) {
    throw new AuthenticationRequiredError('missing');
  }
  return principal;
}

/** Parameter of a handler: the authenticated caller, never undefined; see `callerIn`. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context) => callerIn(context));
