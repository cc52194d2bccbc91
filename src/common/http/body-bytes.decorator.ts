import { Reflector } from '@nestjs/core';

/** The handler takes the JSON body as bytes that nobody has looked at: its reading is too much for the thread that answers. */
export const BodyAsBytes = Reflector.createDecorator<true>({ transform: () => true });
