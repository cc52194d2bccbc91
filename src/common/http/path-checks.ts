import type { ExecutionContext } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { Request } from 'express';
import { callerIn } from '../auth/principal.decorator.js';
import { UnreadableBodyError, ValidationFailedError } from '../errors/request.errors.js';
import { RequestValidationPipe } from '../validation/request-validation.pipe.js';
import type { PathCheck, PathCheckOptions } from './checked-path.js';

type Check = PathCheck & PathCheckOptions;

/** Checks the paths of `@FoundFirst` routes. */
export class PathChecks {
  private readonly validation = new RequestValidationPipe();

  constructor(private readonly modules: ModuleRef) {}

  /** @throws ValidationFailedError, and whatever the path is refused with */
  async demand(check: Check, context: ExecutionContext): Promise<void> {
    const principal = callerIn(context);
    const params = await this.validated(check, context).catch((error: unknown) => {
      check.demandReader?.(principal);
      throw error;
    });
    await check.demand(this.modules.get(check.service, { strict: false }), params, principal);
  }

  /**
   * Tells what is wrong with the path of a request that was refused for its query or body, if anything is.
   * @throws as `demand`
   */
  async demandOfRefused(check: Check, context: ExecutionContext, error: unknown): Promise<void> {
    if (error instanceof UnreadableBodyError || error instanceof ValidationFailedError) {
      await this.demand(check, context);
    }
  }

  private validated({ params }: PathCheck, context: ExecutionContext): Promise<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    return this.validation.transform(request.params, { type: 'param', metatype: params });
  }
}
