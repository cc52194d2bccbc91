import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** Parameter of a handler: a request header by its name, undefined when it was not sent. Its route documents it with `@ApiHeader`. */
export const RequestHeader = createParamDecorator(
  (name: string, context: ExecutionContext): string | undefined => {
    const value = context.switchToHttp().getRequest<IncomingMessage>().headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  },
);
