import { Reflector } from '@nestjs/core';
import type { LimitedOperation } from './rate-limits.js';

/** Gives a route its own limit per caller, counted besides the general one. */
export const RateLimit = Reflector.createDecorator<LimitedOperation>();
