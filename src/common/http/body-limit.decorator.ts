import { Reflector } from '@nestjs/core';

/** Tells the most bytes that the body of a route may have, in place of those of other routes. */
export const BodyLimit = Reflector.createDecorator<() => number>();
