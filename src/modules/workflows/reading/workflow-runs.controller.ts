import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../../common/auth/access.decorators.js';
import type { JsonText } from '../../../common/http/json-replies.js';
import { inTurns } from '../../../common/turns.js';
import type { Principal } from '../../../common/user/principal.js';
import { WorkflowCallsQueryDto, workflowCallPageSteps } from './workflow-call.dto.js';
import { workflowRunDetailsSteps } from './workflow-run-details.dto.js';
import { toWorkflowRunPage, WorkflowRunPageDto } from './workflow-run.dto.js';
import { WorkflowRunParams, WorkflowRunsQueryDto } from './workflow-run.params.dto.js';
import { WorkflowRunsService } from '../runs/workflow-runs.service.js';
import { WorkflowRunsApi } from './workflow-runs.api.js';

/** Shows the runs of all workflows (extension of the contract). */
@ApiTags('Workflow runs')
@RequirePermission(Permission.ProcessRead)
@Controller('rtm/api/runtime/workflow-run')
export class WorkflowRunsController {
  constructor(private readonly workflowRuns: WorkflowRunsService) {}

  @Get()
  @WorkflowRunsApi.listWorkflowRuns
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: WorkflowRunsQueryDto,
  ): Promise<WorkflowRunPageDto> {
    return toWorkflowRunPage(await this.workflowRuns.page(principal, query));
  }

  @Get(':workflowRunId')
  @WorkflowRunsApi.getWorkflowRun
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param() { workflowRunId }: WorkflowRunParams,
  ): Promise<JsonText> {
    return inTurns(workflowRunDetailsSteps(await this.workflowRuns.byId(principal, workflowRunId)));
  }

  @Get(':workflowRunId/calls')
  @WorkflowRunsApi.listWorkflowRunCalls
  async listCalls(
    @CurrentPrincipal() principal: Principal,
    @Param() { workflowRunId }: WorkflowRunParams,
    @Query() query: WorkflowCallsQueryDto,
  ): Promise<JsonText> {
    return inTurns(workflowCallPageSteps(await this.workflowRuns.callsOf(principal, workflowRunId, query)));
  }
}
