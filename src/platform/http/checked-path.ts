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
  /** Looks the path up. Throws the error for an invalid path, usually a NotFoundError. */
  lookUp: (service: Service, params: Params, principal: Principal) => Promise<unknown>;
  /** Rejects callers who must not learn that the path is malformed. */
  authorize?: (service: Service, path: Request['params'], principal: Principal) => void;
}

/** Metadata that `RequestGuard` reads. */
export const CheckedPath = Reflector.createDecorator<PathCheck>();

export class PathChecks {
  private readonly validation = new RequestValidationPipe();

  constructor(private readonly modules: ModuleRef) {}

  /** @throws ValidationFailedError, and the error of an invalid path */
  async check({ service: type, params: metatype, ...check }: PathCheck, host: ArgumentsHost): Promise<void> {
    const principal = callerIn(host);
    const path = host.switchToHttp().getRequest<Request>().params;
    const service = this.modules.get(type, { strict: false });
    let params: unknown;
    try {
      params = await this.validation.transform(path, { type: 'param', metatype });
    } catch (error) {
      check.authorize?.(service, path, principal);
      throw error;
    }
    await check.lookUp(service, params, principal);
  }
}

/**
 * Exception filter of a route whose handler looks the path up itself. When query or body of a request are rejected, it
 * looks the path up and reports its error instead, if there is one. Valid requests cost nothing.
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
      const look = hasDisconnected(host) ? Promise.resolve() : this.paths.check(check, host);
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

function hasDisconnected(host: ArgumentsHost): boolean {
  const response = host.switchToHttp().getResponse<Response>();
  return response.closed || host.switchToHttp().getRequest<Request>().socket.destroyed;
}

const pathDecorator =
  (decorator: (check: PathCheck) => MethodDecorator) =>
  <Service, Params>(
    service: Type<Service>,
    params: Type<Params>,
    lookUp: PathCheck<Service, Params>['lookUp'],
    options: Pick<PathCheck<Service, Params>, 'authorize'> = {},
  ): MethodDecorator =>
    decorator({ service, params, lookUp, ...options } as PathCheck);

/** Looks the path up before query and body are read: 404 of the path, then 400 of query and body (docs/contract.md, section 1). */
export const CheckPathBeforeBody = pathDecorator(CheckedPath);

/** Gives the same errors on a route whose handler looks the path up itself: the path is checked only if query or body are rejected. */
export const PreferPathErrors = pathDecorator((check) => UseFilters(refusedPathFilter(check)));
