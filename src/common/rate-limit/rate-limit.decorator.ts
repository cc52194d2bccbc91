import { Reflector } from '@nestjs/core';
import type { LimitedOperation } from './rate-limits.js';

/** Gives a route its own limit per caller, counted besides the general one. */
export const RateLimit = Reflector.createDecorator<LimitedOperation>();

/** The answer of this route lasts, and the route has a limit of its own: its requests are not counted as under way. */
export const LastingAnswer = Reflector.createDecorator<true>();
