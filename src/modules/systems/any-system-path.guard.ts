import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { requirePathIds } from '../../common/validation/path-ids.js';
import { SystemNotFoundError } from './systems.errors.js';
import { SystemsService } from './systems.service.js';

/** Answers 404 for a path that names no system, of whatever type, before the body is looked at. */
@Injectable()
export class AnySystemPathGuard implements CanActivate {
  constructor(private readonly systems: SystemsService) {}

  /** @throws ValidationFailedError, SystemNotFoundError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { params } = context.switchToHttp().getRequest<Request>();
    const [appId, appVersionId, resourceId] = requirePathIds(params, [
      'appId',
      'versionId',
      'systemResourceId',
    ]);
    if (!(await this.systems.exists({ appId, appVersionId, resourceId }))) {
      throw new SystemNotFoundError();
    }
    return true;
  }
}
