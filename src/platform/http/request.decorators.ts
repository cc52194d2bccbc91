import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ValidationFailedError } from '../errors/request.errors.js';

/** The handler takes the JSON body as unparsed bytes, because parsing it would block the main thread too long. */
export const BodyAsBytes = Reflector.createDecorator<true>({ transform: () => true });

/** Sets the maximum number of bytes of the body of a route, in place of the default. */
export const BodyLimit = Reflector.createDecorator<() => number>();

/**
 * Maximum length of headers that may be long. Node.js allows twice as much for the request line and all headers
 * together.
 */
export const HEADER_MAX_LENGTH = 8_192;

/**
 * Returns a request header.
 * @returns undefined when it was not sent
 * @throws ValidationFailedError when it is longer than documented
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

/**
 * Handler parameter: a request header by name, undefined when it was not sent. The route documents it with
 * `@ApiHeader`.
 */
export const RequestHeader = createParamDecorator(
  (name: string, context: ExecutionContext): string | undefined =>
    headerOf(context.switchToHttp().getRequest<IncomingMessage>(), name),
);

/** Handler parameter: several request headers as an object, from a map of members to header names. */
export const RequestHeaders = createParamDecorator(
  (names: Record<string, string>, context: ExecutionContext): Record<string, string | undefined> => {
    const request = context.switchToHttp().getRequest<IncomingMessage>();
    return Object.fromEntries(Object.entries(names).map(([own, name]) => [own, headerOf(request, name)]));
  },
);
