import type { Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Principal } from '../user/principal.js';

/** How the path of a route is checked. */
export interface PathCheck<Service = unknown, Params = unknown> {
  /** The provider that looks the path up. */
  service: Type<Service>;
  /** Class of the path parameters, by which they are validated before. */
  params: Type<Params>;
  /** Looks the path up. Throws what the path is refused with, mostly a NotFoundError. */
  demand: (service: Service, params: Params, principal: Principal) => Promise<unknown>;
}

/** What only some routes need. */
export interface PathCheckOptions {
  /** Refuses callers who must not learn that the path is malformed. */
  demandReader?: (principal: Principal) => void;
  /** The same, with the provider that looks paths up and the application as the path names it. */
  demandCaller?: (service: unknown, appId: string, principal: Principal) => void;
  /** For a handler that looks the path up itself: only a request that is refused for its query or body is in need of a look. */
  onlyWhenRefused?: boolean;
}

/** Metadata that `RequestGuard` reads. */
export const CheckedPath = Reflector.createDecorator<PathCheck & PathCheckOptions>();
