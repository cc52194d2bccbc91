import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../../platform/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../../../platform/auth/access.decorators.js';
import type { JsonText } from '../../../../platform/http/json-replies.js';
import { runYielding } from '#engine/support';
import type { Principal } from '../../../../platform/user/principal.js';
import { WorkflowCallsQueryDto, workflowCallPageSteps } from './workflow-call.dto.js';
import {
  workflowRunDetailsSteps,
  toWorkflowRunPage,
  WorkflowRunPageDto,
  WorkflowRunParams,
  WorkflowRunsQueryDto,
} from './workflow-run.dto.js';
import { WorkflowUsageDto, WorkflowUsageQueryDto } from './workflow-usage.dto.js';
import { WorkflowUsageService } from './workflow-usage.service.js';
import { WorkflowRunsService } from '../runs/workflow-runs.service.js';
import { WorkflowRunsApi } from './workflow-runs.api.js';

/** Shows workflow runs and their usage (extension of the contract). */
@ApiTags('Workflow runs')
@RequirePermission(Permission.ProcessRead)
@Controller('rtm/api/runtime')
export class WorkflowRunsController {
  constructor(
    private readonly workflowRuns: WorkflowRunsService,
    private readonly usage: WorkflowUsageService,
  ) {}

  @Get('workflow-run')
  @WorkflowRunsApi.listWorkflowRuns
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: WorkflowRunsQueryDto,
  ): Promise<WorkflowRunPageDto> {
    return toWorkflowRunPage(await this.workflowRuns.page(principal, query));
  }

  @Get('workflow-run/:workflowRunId')
  @WorkflowRunsApi.getWorkflowRun
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param() { workflowRunId }: WorkflowRunParams,
  ): Promise<JsonText> {
    return runYielding(workflowRunDetailsSteps(await this.workflowRuns.byId(principal, workflowRunId)));
  }

  @Get('workflow-run/:workflowRunId/calls')
  @WorkflowRunsApi.listWorkflowRunCalls
  async listCalls(
    @CurrentPrincipal() principal: Principal,
    @Param() { workflowRunId }: WorkflowRunParams,
    @Query() query: WorkflowCallsQueryDto,
  ): Promise<JsonText> {
    return runYielding(
      workflowCallPageSteps(await this.workflowRuns.callsOf(principal, workflowRunId, query)),
    );
  }

  @Get('workflow-usage')
  @WorkflowRunsApi.getWorkflowUsage
  async readUsage(
    @CurrentPrincipal() principal: Principal,
    @Query() query: WorkflowUsageQueryDto,
  ): Promise<WorkflowUsageDto> {
    return this.usage.read(principal, query);
  }
}
