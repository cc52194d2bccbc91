import { type Type, type ArgumentsHost, Catch, type ExceptionFilter, UseFilters } from '@nestjs/common';
import { Reflector, ModuleRef } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Principal } from '../user/principal.js';
import { callerIn } from '../auth/access.decorators.js';
import { RequestValidationPipe } from '../validation/request-validation.pipe.js';
import { UnreadableBodyError, ValidationFailedError } from '../errors/request.errors.js';

export interface PathCheck<Service = unknown, Params = unknown> {
  service: Type<Service>;
  params: Type<Params>;
  /** Looks the path up. Throws what the path is refused with, mostly a NotFoundError. */
  demand: (service: Service, params: Params, principal: Principal) => Promise<unknown>;
  /** Refuses callers who must not learn that the path is malformed. */
  demandCaller?: (service: Service, path: Request['params'], principal: Principal) => void;
  /** For a handler that looks the path up itself: only a request that is refused for its query or body is in need of a look. */
  onlyWhenRefused?: boolean;
}

/** Metadata that `RequestGuard` reads. */
export const CheckedPath = Reflector.createDecorator<PathCheck>();

export class PathChecks {
  private readonly validation = new RequestValidationPipe();

  constructor(private readonly modules: ModuleRef) {}

  /** @throws ValidationFailedError, and whatever the path is refused with */
  async demand({ service: type, params: metatype, ...check }: PathCheck, host: ArgumentsHost): Promise<void> {
    const principal = callerIn(host);
    const path = host.switchToHttp().getRequest<Request>().params;
    const service = this.modules.get(type, { strict: false });
    let params: unknown;
    try {
      params = await this.validation.transform(path, { type: 'param', metatype });
    } catch (error) {
      check.demandCaller?.(service, path, principal);
      throw error;
    }
    await check.demand(service, params, principal);
  }
}

/**
 * Exception filter of one route, whose handler looks the path up itself. Of a request that is refused for its query or body
 * before, it looks the path up, and tells what is wrong with it, if anything is. A request that is not refused costs nothing.
 */
function refusedPathFilter(check: PathCheck): Type<ExceptionFilter> {
  @Catch(UnreadableBodyError, ValidationFailedError)
  class RefusedPathFilter implements ExceptionFilter {
    private readonly paths: PathChecks;

    constructor(modules: ModuleRef) {
      this.paths = new PathChecks(modules);
    }

    async catch(refusal: unknown, host: ArgumentsHost): Promise<void> {
      const next = host.switchToHttp().getNext<(error: unknown) => void>();
      const look = isGone(host) ? Promise.resolve() : this.paths.demand(check, host);
      next(
        await look.then(
          () => refusal,
          (fault: unknown) => fault,
        ),
      );
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
  options: Pick<PathCheck<Service, Params>, 'demandCaller' | 'onlyWhenRefused'> = {},
): MethodDecorator => {
  const check = { service, params, demand, ...options } as PathCheck;
  return options.onlyWhenRefused === true ? UseFilters(refusedPathFilter(check)) : CheckedPath(check);
};
