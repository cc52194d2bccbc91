import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { requirePathIds } from '../../../common/validation/path-ids.js';
import { ToolsService } from './tools.service.js';

const NAMES = ['appId', 'versionId', 'systemResourceId', 'systemId', 'toolId'] as const;

/** Answers 404 for a path that names no tool before the body is looked at. */
@Injectable()
export class ToolPathGuard implements CanActivate {
  constructor(private readonly tools: ToolsService) {}

  /** @throws ValidationFailedError, SystemNotFoundError, ToolNotFoundError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { params } = context.switchToHttp().getRequest<Request>();
    const [appId, appVersionId, resourceId, systemId, toolId] = requirePathIds(params, NAMES);
    await this.tools.requirePath({ appId, appVersionId, resourceId, systemId, toolId });
    return true;
  }
}
