import { type Type, type ArgumentsHost, Catch, type ExceptionFilter, UseFilters } from '@nestjs/common';
import { Reflector, ModuleRef } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Principal } from '../user/principal.js';
import { callerIn } from '../auth/access.decorators.js';
import { RequestValidationPipe } from '../validation/request-validation.pipe.js';
import { UnreadableBodyError, ValidationFailedError } from '../errors/request.errors.js';

/** How the path of a route is checked. */
export interface PathCheck<Service = unknown, Params = unknown> {
  service: Type<Service>;
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

/** Checks the paths of `@FoundFirst` routes. */
export class PathChecks {
  private readonly validation = new RequestValidationPipe();

  constructor(private readonly modules: ModuleRef) {}

  /** @throws ValidationFailedError, and whatever the path is refused with */
  async demand(check: PathCheck & PathCheckOptions, host: ArgumentsHost): Promise<void> {
    const principal = callerIn(host);
    const params = await this.validated(check, host, principal);
    await check.demand(this.modules.get(check.service, { strict: false }), params, principal);
  }

  private async validated(
    { params, demandReader, service, demandCaller }: PathCheck & PathCheckOptions,
    host: ArgumentsHost,
    principal: Principal,
  ): Promise<unknown> {
    const request = host.switchToHttp().getRequest<Request>();
    try {
      return await this.validation.transform(request.params, { type: 'param', metatype: params });
    } catch (error) {
      demandReader?.(principal);
      demandCaller?.(
        this.modules.get(service, { strict: false }),
        String(request.params['appId']),
        principal,
      );
      throw error;
    }
  }
}

/**
 * Exception filter of one route, whose handler looks the path up itself. Of a request that is refused for its query or body
 * before, it looks the path up, and tells what is wrong with it, if anything is. A request that is not refused costs nothing.
 */
function refusedPathFilter(check: PathCheck & PathCheckOptions): Type<ExceptionFilter> {
  @Catch(UnreadableBodyError, ValidationFailedError)
  class RefusedPathFilter implements ExceptionFilter {
    private readonly paths: PathChecks;

    constructor(modules: ModuleRef) {
      this.paths = new PathChecks(modules);
    }

    async catch(refusal: unknown, host: ArgumentsHost): Promise<void> {
      const next = host.switchToHttp().getNext<(error: unknown) => void>();
      next(isGone(host) ? refusal : ((await this.faultOfPath(host)) ?? refusal));
    }

    private async faultOfPath(host: ArgumentsHost): Promise<unknown> {
      try {
        await this.paths.demand(check, host);
        return undefined;
      } catch (fault) {
        return fault;
      }
    }
  }
  return RefusedPathFilter;
}

/** Whether nobody is left to be told anything. */
function isGone(host: ArgumentsHost): boolean {
  const response = host.switchToHttp().getResponse<Response>();
  return response.closed || host.switchToHttp().getRequest<Request>().socket.destroyed;
}

/**
 * Tells faults of the path before faults of the rest of the request: 404 of the path, then 400 of query and body
 * (docs/contract.md, section 1).
 */
export const FoundFirst = <Service, Params>(
  service: Type<Service>,
  params: Type<Params>,
  demand: PathCheck<Service, Params>['demand'],
  { onlyWhenRefused = false, ...options }: PathCheckOptions = {},
): MethodDecorator => {
  const check = { service, params, demand, ...options } as PathCheck & PathCheckOptions;
  return onlyWhenRefused ? UseFilters(refusedPathFilter(check)) : CheckedPath(check);
};
