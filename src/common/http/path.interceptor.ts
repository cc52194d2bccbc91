import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import { catchError, type Observable } from 'rxjs';
import { CheckedPath } from './checked-path.js';
import { PathChecks } from './path-checks.js';

/** For `@FoundFirst` routes whose handlers look the path up themselves: checks it for a request that is refused before. */
@Injectable()
export class PathInterceptor implements NestInterceptor {
  private readonly paths: PathChecks;

  constructor(
    private readonly reflector: Reflector,
    modules: ModuleRef,
  ) {
    this.paths = new PathChecks(modules);
  }

  /** @throws what the path is refused with */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const check = this.reflector.get(CheckedPath, context.getHandler());
    return next.handle().pipe(
      catchError(async (error: unknown) => {
        await this.paths.demandOfRefused(check, context, error);
        throw error;
      }),
    );
  }
}
