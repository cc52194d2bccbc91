import { Reflector } from '@nestjs/core';

/** Marks a route that takes nothing from its body: a body with fields is refused like any unknown field. */
export const NoBody = Reflector.createDecorator<void, true>({ transform: () => true });
