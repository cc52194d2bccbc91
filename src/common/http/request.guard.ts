import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import { Env } from '../../config/env.js';
import { CheckedPath } from './checked-path.js';
import { JsonBodies } from './json-bodies.js';
import { PathChecks } from './path-checks.js';

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
    env: Env,
  ) {
    this.paths = new PathChecks(modules);
    this.bodies = new JsonBodies(env, reflector);
  }

  /** @throws ValidationFailedError, UnreadableBodyError, RateLimitExceededError, and whatever the path is refused with */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const check = this.reflector.get(CheckedPath, context.getHandler());
    if (check !== undefined && check.onlyWhenRefused !== true) {
      await this.paths.demand(check, context);
    }
    try {
      await this.bodies.read(context);
    } catch (error) {
      if (check?.onlyWhenRefused === true) {
        await this.paths.demandOfRefused(check, context, error);
      }
      throw error;
    }
    return true;
  }
}
