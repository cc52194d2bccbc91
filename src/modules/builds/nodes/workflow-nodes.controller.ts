import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  Param,
  Post,
  Put,
  Query,
  Res,
  UseGuards,
} from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { BodyLimit } from '../../../common/http/body-limit.decorator.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { PACKAGE_REFUSED_EXAMPLE } from '../model/build.examples.js';
import { DeliveryParams, versionOf } from '../model/build.params.dto.js';
import { ApiIfMatch, ETAG_HEADER, requiredIfMatch } from './if-match.js';
import { PackageRefusedResponseDto } from '../model/package.dto.js';
import {
  toWorkflow,
  toWorkflowList,
  toWorkflowNode,
  WorkflowDto,
  WorkflowListDto,
  WorkflowNodeDto,
} from './workflow-node.dto.js';
import {
  NODE_EXAMPLE,
  NODE_REQUEST_EXAMPLE,
  WORKFLOW_EXAMPLE,
  WORKFLOW_LIST_EXAMPLE,
} from './workflow-node.examples.js';
import {
  NewNodeQueryDto,
  nodeOf,
  WorkflowNodeParams,
  workflowOf,
  WorkflowParams,
} from './workflow-node.params.dto.js';
import { WorkflowNodesService } from './workflow-nodes.service.js';
import type { ShownNode } from './workflow-nodes.types.js';
import { WorkflowPathGuard } from './workflow-path.guard.js';

const DENIED = { 403: 'Insufficient permissions to deliver applications' };
const NO_WORKFLOW = { 404: 'Workflow not found.' };
const NO_NODE = { 404: 'Workflow node not found.' };
const COMMITTED = { 409: 'The application version is committed and can no longer be changed.' };
const NODE_SCHEMA = { type: 'object', additionalProperties: true } as const;
const NODE_BODY = {
  schema: NODE_SCHEMA,
  examples: { agent: { summary: 'An agent', value: NODE_REQUEST_EXAMPLE } },
};
const REFUSED = {
  type: PackageRefusedResponseDto,
  example: PACKAGE_REFUSED_EXAMPLE,
  description:
    'Malformed request, or a workflow that a delivery would refuse; all problems are told, nothing is stored.',
};

/** Workflows of a version and their nodes, one by one (extension of the contract). */
@ApiTags('Workflows')
@RequirePermission(Permission.ApplicationDelivery)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId/workflow')
export class WorkflowNodesController {
  constructor(private readonly workflows: WorkflowNodesService) {}

  @Get()
  @ApiOperation({
    operationId: 'listWorkflows',
    summary: 'List the workflows of a version',
    description: 'Extension of the contract. Those of its package; a version without one has none.',
  })
  @ApiOkResponse({ type: WorkflowListDto, example: WORKFLOW_LIST_EXAMPLE, description: 'The workflows.' })
  @ApiErrors(400, DENIED)
  async list(@Param() params: DeliveryParams): Promise<WorkflowListDto> {
    return toWorkflowList(await this.workflows.list(versionOf(params)));
  }

  @Get(':workflowName')
  @ApiOperation({
    operationId: 'getWorkflow',
    summary: 'Get a workflow with its nodes',
    description:
      'Extension of the contract. Nodes have the shape of the Custom Agent workflow node, whatever their type.',
  })
  @ApiOkResponse({ type: WorkflowDto, example: WORKFLOW_EXAMPLE, description: 'The workflow.' })
  @ApiErrors(400, DENIED, NO_WORKFLOW)
  async workflow(@Param() params: WorkflowParams): Promise<WorkflowDto> {
    return toWorkflow(await this.workflows.workflow(workflowOf(params)));
  }

  @Post(':workflowName/node')
  @UseGuards(WorkflowPathGuard)
  @BodyLimit('PACKAGE_MAX_BYTES')
  @Audited(AuditAction.WorkflowNodeCreate)
  @ApiOperation({
    operationId: 'createWorkflowNode',
    summary: 'Add a node to a workflow of a draft version',
    description:
      'Extension of the contract. `id` and `svcUuid` are given when they are left out; dates, users and `workflowResourceId` are ' +
      'ignored. The workflow has to be whole afterwards, so a node usually comes on a sequence. 409 when the version is committed or ' +
      'has a node of this id.',
  })
  @ApiBody(NODE_BODY)
  @ApiCreatedResponse({
    type: WorkflowNodeDto,
    example: NODE_EXAMPLE,
    headers: ETAG_HEADER,
    description: 'The node as it is stored.',
  })
  @ApiBadRequestResponse(REFUSED)
  @ApiErrors(400, DENIED, NO_WORKFLOW, COMMITTED)
  async create(
    @CurrentPrincipal() principal: Principal,
    @Param() params: WorkflowParams,
    @Query() { onSequence }: NewNodeQueryDto,
    @Body() body: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WorkflowNodeDto> {
    return answered(response, await this.workflows.create(principal, workflowOf(params), body, onSequence));
  }

  @Get(':workflowName/node/:nodeId')
  @ApiOperation({
    operationId: 'getWorkflowNode',
    summary: 'Get a node of a workflow',
    description: 'Extension of the contract. The `ETag` is what a change of the node has to name.',
  })
  @ApiOkResponse({
    type: WorkflowNodeDto,
    example: NODE_EXAMPLE,
    headers: ETAG_HEADER,
    description: 'The node.',
  })
  @ApiResponse({
    status: 304,
    headers: ETAG_HEADER,
    description: 'The node is still the one that `If-None-Match` names.',
  })
  @ApiErrors(400, DENIED, NO_NODE)
  async get(
    @Param() params: WorkflowNodeParams,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WorkflowNodeDto> {
    return answered(response, await this.workflows.node(nodeOf(params)));
  }

  @Put(':workflowName/node/:nodeId')
  @UseGuards(WorkflowPathGuard)
  @BodyLimit('PACKAGE_MAX_BYTES')
  @Audited(AuditAction.WorkflowNodeUpdate)
  @ApiIfMatch()
  @ApiOperation({
    operationId: 'updateWorkflowNode',
    summary: 'Change a node of a workflow of a draft version',
    description:
      'Extension of the contract. The whole node in the place of the one that is there; what was read can be sent back changed. ' +
      '409 when the version is committed, or when the node is not the one that `If-Match` names.',
  })
  @ApiBody(NODE_BODY)
  @ApiOkResponse({
    type: WorkflowNodeDto,
    example: NODE_EXAMPLE,
    headers: ETAG_HEADER,
    description: 'The node as it is stored.',
  })
  @ApiBadRequestResponse(REFUSED)
  @ApiErrors(400, DENIED, NO_NODE, COMMITTED)
  async update(
    @CurrentPrincipal() principal: Principal,
    @Param() params: WorkflowNodeParams,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() body: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WorkflowNodeDto> {
    const tag = requiredIfMatch(ifMatch);
    return answered(response, await this.workflows.update(principal, nodeOf(params), tag, body));
  }

  @Delete(':workflowName/node/:nodeId')
  @Audited(AuditAction.WorkflowNodeDelete)
  @ApiIfMatch()
  @ApiOperation({
    operationId: 'deleteWorkflowNode',
    summary: 'Take a node out of a workflow of a draft version',
    description:
      'Extension of the contract. What led to the node leads to where it led. 400 when the workflow would not be whole without it. ' +
      '409 as for a change.',
  })
  @ApiOkResponse({ type: WorkflowNodeDto, example: NODE_EXAMPLE, description: 'The node as it was.' })
  @ApiBadRequestResponse(REFUSED)
  @ApiErrors(400, DENIED, NO_NODE, COMMITTED)
  async remove(
    @CurrentPrincipal() principal: Principal,
    @Param() params: WorkflowNodeParams,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<WorkflowNodeDto> {
    const tag = requiredIfMatch(ifMatch);
    return toWorkflowNode(await this.workflows.remove(principal, nodeOf(params), tag));
  }
}

function answered(response: Response, shown: ShownNode): WorkflowNodeDto {
  response.setHeader('ETag', shown.etag);
  return toWorkflowNode(shown);
}
