import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { requirePathIds } from '../../../common/validation/path-ids.js';
import type { SystemKey } from '../model/system.types.js';
import { SystemNotFoundError } from '../model/systems.errors.js';
import { SystemsService } from './systems.service.js';

const NAMES = ['appId', 'versionId', 'systemResourceId'] as const;

/** Answers 404 for a path that names no MCP system before the body is looked at. For routes with a body. */
@Injectable()
export class SystemPathGuard implements CanActivate {
  constructor(protected readonly systems: SystemsService) {}

  /** @throws ValidationFailedError, SystemNotFoundError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { params } = context.switchToHttp().getRequest<Request>();
    const [appId, appVersionId, resourceId] = requirePathIds(params, NAMES);
    if (!(await this.exists({ appId, appVersionId, resourceId }))) {
      throw new SystemNotFoundError();
    }
    return true;
  }

  protected async exists(key: SystemKey): Promise<boolean> {
    return (await this.systems.idOf(key)) !== null;
  }
}

/** As `SystemPathGuard`, for systems of all types. */
@Injectable()
export class AnySystemPathGuard extends SystemPathGuard {
  protected override exists(key: SystemKey): Promise<boolean> {
    return this.systems.exists(key);
  }
}
