import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { isPathName, WORKFLOW_NAME } from '../../../common/validation/path-names.js';
import { PATH_ID } from '../../../common/validation/patterns.decorators.js';
import { TestRunsService } from './test-runs.service.js';

/** Answers 404 for a path that names no workflow of a build before the body is looked at. */
@Injectable()
export class TestRunPathGuard implements CanActivate {
  constructor(private readonly runs: TestRunsService) {}

  /** @throws BuildNotFoundError, WorkflowNotFoundError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { params } = context.switchToHttp().getRequest<Request>();
    const appId = String(params['appId']);
    const buildId = String(params['buildId']);
    const workflow = String(params['workflowName']);
    // What is no identifier is told by the validation of the path.
    if (PATH_ID.test(appId) && PATH_ID.test(buildId) && isPathName(WORKFLOW_NAME, workflow)) {
      await this.runs.requirePath({ appId, buildId, workflow });
    }
    return true;
  }
}
