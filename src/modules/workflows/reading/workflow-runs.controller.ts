import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { toWorkflowCallPage, WorkflowCallPageDto, WorkflowCallsQueryDto } from './workflow-call.dto.js';
import { toWorkflowRunDetails, WorkflowRunDetailsDto } from './workflow-run-details.dto.js';
import { toWorkflowRunPage, WorkflowRunPageDto } from './workflow-run.dto.js';
import {
  WORKFLOW_CALL_PAGE_EXAMPLE,
  WORKFLOW_RUN_EXAMPLE,
  WORKFLOW_RUN_PAGE_EXAMPLE,
} from './workflow-run.examples.js';
import { WorkflowRunParams, WorkflowRunsQueryDto } from './workflow-run.params.dto.js';
import { WorkflowRunsService } from '../runs/workflow-runs.service.js';

const DENIED = { 403: 'Insufficient permissions to read process data' };

/** Shows the runs of all workflows (extension of the contract). */
@ApiTags('Workflow runs')
@RequirePermission(Permission.ProcessRead)
@Controller('rtm/api/runtime/workflow-run')
export class WorkflowRunsController {
  constructor(private readonly workflowRuns: WorkflowRunsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listWorkflowRuns',
    summary: 'List workflow runs',
    description:
      'Extension of the contract. The runs of all workflows and their subworkflows, newest first. Follow `next` until it is null.',
  })
  @ApiOkResponse({
    type: WorkflowRunPageDto,
    example: WORKFLOW_RUN_PAGE_EXAMPLE,
    description: 'A page of runs.',
  })
  @ApiErrors(400, DENIED)
  async list(@Query() query: WorkflowRunsQueryDto): Promise<WorkflowRunPageDto> {
    return toWorkflowRunPage(await this.workflowRuns.page(query));
  }

  @Get(':workflowRunId')
  @ApiOperation({
    operationId: 'getWorkflowRun',
    summary: 'Get a workflow run with what its nodes did',
    description:
      'Extension of the contract. Inputs and outputs of nodes hold process data; those that are too large are left out.',
  })
  @ApiOkResponse({ type: WorkflowRunDetailsDto, example: WORKFLOW_RUN_EXAMPLE, description: 'The run.' })
  @ApiErrors(400, DENIED, { 404: 'Workflow run not found.' })
  async get(@Param() { workflowRunId }: WorkflowRunParams): Promise<WorkflowRunDetailsDto> {
    return toWorkflowRunDetails(await this.workflowRuns.byId(workflowRunId));
  }

  @Get(':workflowRunId/calls')
  @ApiOperation({
    operationId: 'listWorkflowRunCalls',
    summary: 'List what a workflow run has called',
    description:
      'Extension of the contract. Every call of a language model, a tool or a REST endpoint, with its question, answer, time and tokens, in the order in which they were begun; also while the run is under way. Follow `next` until it is null. Values that look like secrets are removed.',
  })
  @ApiOkResponse({
    type: WorkflowCallPageDto,
    example: WORKFLOW_CALL_PAGE_EXAMPLE,
    description: 'A page of calls.',
  })
  @ApiErrors(400, DENIED, { 404: 'Workflow run not found.' })
  async listCalls(
    @Param() { workflowRunId }: WorkflowRunParams,
    @Query() query: WorkflowCallsQueryDto,
  ): Promise<WorkflowCallPageDto> {
    return toWorkflowCallPage(await this.workflowRuns.callsOf(workflowRunId, query));
  }
}
