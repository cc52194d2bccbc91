import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ValidationFailedError } from '../errors/request.errors.js';

/** The handler takes the JSON body as bytes that nobody has looked at: its reading is too much for the thread that answers. */
export const BodyAsBytes = Reflector.createDecorator<true>({ transform: () => true });

/** Tells the most bytes that the body of a route may have, in place of those of other routes. */
export const BodyLimit = Reflector.createDecorator<() => number>();

/** Characters of a header that may be long. Node.js has room for twice as much in the line and the headers of a request together. */
export const HEADER_MAX_LENGTH = 8_192;

/**
 * @returns undefined when it was not sent
 * @throws ValidationFailedError when it is longer than the document allows
 */
export function headerOf({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  const sent = headers[name.toLowerCase()];
  const value = Array.isArray(sent) ? sent.join(', ') : sent;
  if (value !== undefined && value.length > HEADER_MAX_LENGTH) {
    throw new ValidationFailedError([
      { field: name, rule: `must have at most ${HEADER_MAX_LENGTH} characters` },
    ]);
  }
  return value;
}

/** Parameter of a handler: a request header by its name, undefined when it was not sent. Its route documents it with `@ApiHeader`. */
export const RequestHeader = createParamDecorator(
  (name: string, context: ExecutionContext): string | undefined =>
    headerOf(context.switchToHttp().getRequest<IncomingMessage>(), name),
);

/** Parameter of a handler: several request headers, by names of its own for them. */
export const RequestHeaders = createParamDecorator(
  (names: Record<string, string>, context: ExecutionContext): Record<string, string | undefined> => {
    const request = context.switchToHttp().getRequest<IncomingMessage>();
    return Object.fromEntries(Object.entries(names).map(([own, name]) => [own, headerOf(request, name)]));
  },
);
