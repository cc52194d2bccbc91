import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../../../common/user/principal.js';
import { isPathName, PROCESS_NAME } from '../../../common/validation/path-names.js';
import { PATH_ID } from '../../../common/validation/patterns.decorators.js';
import { ProcessStartService } from './process-start.service.js';

/** Answers 404 for a path that names no process of a build, and 403 to who may start none of it, before the body is looked at. */
@Injectable()
export class StartPathGuard implements CanActivate {
  constructor(private readonly processes: ProcessStartService) {}

  /** @throws BuildNotFoundError, ProcessDefinitionNotFoundError, LanePermissionError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const principal = principalOf(request);
    const { params } = request;
    const appId = String(params['appId']);
    const buildId = String(params['buildId']);
    const processName = String(params['processDefinitionName']);
    // What is no identifier is told by the validation of the path.
    if (
      principal !== undefined &&
      PATH_ID.test(appId) &&
      PATH_ID.test(buildId) &&
      isPathName(PROCESS_NAME, processName)
    ) {
      await this.processes.demandStartable(principal, { appId, buildId, processName });
    }
    return true;
  }
}
