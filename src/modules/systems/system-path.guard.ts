import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { requirePathIds } from '../../common/validation/path-ids.js';
import { SystemNotFoundError } from './systems.errors.js';
import { SystemsService } from './systems.service.js';

/** Answers 404 for a path that names no MCP system before the body is looked at. For routes with a body. */
@Injectable()
export class SystemPathGuard implements CanActivate {
  constructor(private readonly systems: SystemsService) {}

  /** @throws ValidationFailedError, SystemNotFoundError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { params } = context.switchToHttp().getRequest<Request>();
    const [appId, appVersionId, resourceId] = requirePathIds(params, [
      'appId',
      'versionId',
      'systemResourceId',
    ]);
    if ((await this.systems.idOf({ appId, appVersionId, resourceId })) === null) {
      throw new SystemNotFoundError();
    }
    return true;
  }
}
