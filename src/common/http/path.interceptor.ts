import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { catchError, type Observable } from 'rxjs';
import { callerIn } from '../auth/principal.decorator.js';
import { UnreadableBodyError, ValidationFailedError } from '../errors/request.errors.js';
import { RequestValidationPipe } from '../validation/request-validation.pipe.js';
import { CheckedPath, type PathCheck, type PathCheckOptions } from './found-first.decorator.js';

/** Checks the paths of `@FoundFirst` routes. It stands before the interceptor that reads the body. */
@Injectable()
export class PathInterceptor implements NestInterceptor {
  private readonly validation = new RequestValidationPipe();

  constructor(
    private readonly reflector: Reflector,
    private readonly modules: ModuleRef,
  ) {}

  /** @throws ValidationFailedError, and whatever the path is refused with */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const check = this.reflector.get(CheckedPath, context.getHandler());
    if (check?.onlyWhenRefused === true) {
      return next.handle().pipe(
        catchError(async (error: unknown) => {
          if (error instanceof UnreadableBodyError || error instanceof ValidationFailedError) {
            await this.demand(check, context);
          }
          throw error;
        }),
      );
    }
    if (check !== undefined) {
      await this.demand(check, context);
    }
    return next.handle();
  }

  private async demand(check: PathCheck & PathCheckOptions, context: ExecutionContext): Promise<void> {
    const principal = callerIn(context);
    const params = await this.validated(check, context).catch((error: unknown) => {
      check.demandReader?.(principal);
      throw error;
    });
    await check.demand(this.modules.get(check.service, { strict: false }), params, principal);
  }

  private validated({ params }: PathCheck, context: ExecutionContext): Promise<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    return this.validation.transform(request.params, { type: 'param', metatype: params });
  }
}
