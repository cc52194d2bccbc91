import { Injectable, type CanActivate, type ExecutionContext, Module } from '@nestjs/common';
import { ModuleRef, Reflector, APP_GUARD } from '@nestjs/core';
import type { Request } from 'express';
import { Metrics } from '../observability/metrics/metrics.js';
import { CheckedPath, type PathCheck, PathChecks } from './checked-path.js';
import { JsonBodies } from './json-bodies.js';
import { routeInputs } from './route-inputs.js';

/**
 * Global guard, the last one: the path of `@FoundFirst` routes, then query and body. A guard and no interceptor: the
 * framework makes streams for interceptors, which cost most requests more than the checks do.
 */
@Injectable()
export class RequestGuard implements CanActivate {
  private readonly paths: PathChecks;
  private readonly bodies: JsonBodies;

  constructor(
    private readonly reflector: Reflector,
    modules: ModuleRef,
    metrics: Metrics,
  ) {
    this.paths = new PathChecks(modules);
    this.bodies = new JsonBodies(reflector, metrics);
  }

  /** @throws ValidationFailedError, UnreadableBodyError, RateLimitExceededError, and whatever the path is refused with */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const check = this.reflector.get(CheckedPath, context.getHandler());
    return check === undefined && isBare(context) ? true : this.check(context, check);
  }

  private async check(context: ExecutionContext, check?: PathCheck): Promise<boolean> {
    if (check !== undefined) {
      await this.paths.demand(check, context);
    }
    await this.bodies.read(context);
    return true;
  }
}

function isBare(context: ExecutionContext): boolean {
  const { url, headers } = context.switchToHttp().getRequest<Request>();
  return (
    !routeInputs(context).takesBody &&
    !url.includes('?') &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

/** The guard that comes behind those of `AuthModule`, which therefore has to be imported before. */
@Module({ providers: [{ provide: APP_GUARD, useClass: RequestGuard }] })
export class RequestChecksModule {}
