import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { isPathName, WORKFLOW_NAME } from '../../../common/validation/path-names.js';
import { PATH_ID } from '../../../common/validation/patterns.decorators.js';
import { WorkflowNodesService } from './workflow-nodes.service.js';

/** Answers 404 for a path that names no workflow, or no node of it, before the body is looked at. For routes with a body. */
@Injectable()
export class WorkflowPathGuard implements CanActivate {
  constructor(private readonly workflows: WorkflowNodesService) {}

  /** @throws WorkflowNotFoundError, WorkflowNodeNotFoundError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { params } = context.switchToHttp().getRequest<Request>();
    const appId = String(params['appId']);
    const appVersionId = String(params['versionId']);
    const workflow = String(params['workflowName']);
    const nodeId = params['nodeId'];
    const ids = [appId, appVersionId, ...(nodeId === undefined ? [] : [String(nodeId)])];
    // What is no identifier is told by the validation of the path.
    if (!ids.every((id) => PATH_ID.test(id)) || !isPathName(WORKFLOW_NAME, workflow)) {
      return true;
    }
    const key = { appId, appVersionId, workflow };
    await (nodeId === undefined
      ? this.workflows.workflow(key)
      : this.workflows.node({ ...key, nodeId: String(nodeId) }));
    return true;
  }
}
