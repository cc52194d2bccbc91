import type { ArgumentsHost } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { Request } from 'express';
import { callerIn } from '../auth/principal.decorator.js';
import type { Principal } from '../user/principal.js';
import { RequestValidationPipe } from '../validation/request-validation.pipe.js';
import type { PathCheck, PathCheckOptions } from './checked-path.js';

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
