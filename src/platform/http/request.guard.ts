import { Injectable, type CanActivate, type ExecutionContext, Module } from '@nestjs/common';
import { ModuleRef, Reflector, APP_GUARD } from '@nestjs/core';
import type { Request } from 'express';
import { Metrics } from '../observability/metrics/metrics.js';
import { CheckedPath, type PathCheck, PathChecks } from './checked-path.js';
import { JsonBodies } from './json-bodies.js';
import { routeInputs } from './route-inputs.js';

/**
 * Global guard that runs last: it checks the path of routes with `@CheckPathBeforeBody`, then query and body. It is a guard,
 * because Nest creates streams for interceptors, which cost most requests more than the checks.
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

  /** @throws ValidationFailedError, UnreadableBodyError, RateLimitExceededError, and the error of an invalid path */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const check = this.reflector.get(CheckedPath, context.getHandler());
    return check === undefined && hasNoInput(context) ? true : this.check(context, check);
  }

  private async check(context: ExecutionContext, check?: PathCheck): Promise<boolean> {
    if (check !== undefined) {
      await this.paths.check(check, context);
    }
    await this.bodies.read(context);
    return true;
  }
}

function hasNoInput(context: ExecutionContext): boolean {
  const { url, headers } = context.switchToHttp().getRequest<Request>();
  return (
    !routeInputs(context).takesBody &&
    !url.includes('?') &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

/** Registers the guard after those of `AuthModule`, which must therefore be imported first. */
@Module({ providers: [{ provide: APP_GUARD, useClass: RequestGuard }] })
export class RequestChecksModule {}
