import { Reflector } from '@nestjs/core';

/** The answer of this route lasts, and the route has a limit of its own: its requests are not counted as under way. */
export const LastingAnswer = Reflector.createDecorator<true>();
