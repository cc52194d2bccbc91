import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { PATH_ID } from '../../common/validation/patterns.decorators.js';
import { PROCESS_NAME } from '../builds/dto/build.params.dto.js';
import { ProcessStartService } from './process-start.service.js';

/** Answers 404 for a path that names no process of a build before the body is looked at. */
@Injectable()
export class StartPathGuard implements CanActivate {
  constructor(private readonly processes: ProcessStartService) {}

  /** @throws BuildNotFoundError, ProcessDefinitionNotFoundError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { params } = context.switchToHttp().getRequest<Request>();
    const appId = String(params['appId']);
    const buildId = String(params['buildId']);
    const processName = String(params['processDefinitionName']);
    // What is no identifier is told by the validation of the path.
    if (PATH_ID.test(appId) && PATH_ID.test(buildId) && PROCESS_NAME.test(processName)) {
      await this.processes.demandDefinition({ appId, buildId, processName });
    }
    return true;
  }
}
