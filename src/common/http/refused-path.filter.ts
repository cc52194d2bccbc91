import { Catch, type ArgumentsHost, type ExceptionFilter, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Request, Response } from 'express';
import { UnreadableBodyError, ValidationFailedError } from '../errors/request.errors.js';
import type { PathCheck, PathCheckOptions } from './checked-path.js';
import { PathChecks } from './path-checks.js';

/**
 * Exception filter of one route, whose handler looks the path up itself. Of a request that is refused for its query or body
 * before, it looks the path up, and tells what is wrong with it, if anything is. A request that is not refused costs nothing.
 */
export function refusedPathFilter(check: PathCheck & PathCheckOptions): Type<ExceptionFilter> {
  @Catch(UnreadableBodyError, ValidationFailedError)
  class RefusedPathFilter implements ExceptionFilter {
    private readonly paths: PathChecks;

    constructor(modules: ModuleRef) {
      this.paths = new PathChecks(modules);
    }

    /** Hands what the request is refused with to the error handler of the application. */
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
