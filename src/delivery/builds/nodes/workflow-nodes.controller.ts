import { Body, Controller, Delete, Get, Headers, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Permission } from '../../../platform/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../../platform/auth/access.decorators.js';
import type { Principal } from '../../../platform/user/principal.js';
import { CheckPathBeforeBody } from '../../../platform/http/checked-path.js';
import type { JsonText } from '../../../platform/http/json-replies.js';
import { requireIfMatch } from '../../../platform/http/conditional-requests.js';
import { setLocation } from '../../../platform/http/answer-headers.js';
import { packageLimits } from '../../packages/package.limits.js';
import { BodyLimit } from '../../../platform/http/request.decorators.js';
import { AuditAction } from '../../../audit/model/audit.types.js';
import { Audited } from '../../../audit/recording/audited.decorator.js';
import { AppVersionParams, pathOf, versionOf } from '../../../apps/app.params.dto.js';
import { runYielding } from '#engine/support';
import {
  toWorkflowNode,
  workflowJson,
  WorkflowListDto,
  WorkflowNodeDto,
  type ShownNode,
} from './workflow-node.dto.js';
import {
  NewNodeQueryDto,
  nodeOf,
  WorkflowNodeParams,
  workflowOf,
  WorkflowParams,
} from './workflow-node.params.dto.js';
import { WorkflowNodesService } from './workflow-nodes.service.js';
import { WorkflowNodesApi } from './workflow-nodes.api.js';

/** Reads workflows of a version and edits their nodes (extension of the contract). */
@ApiTags('Workflows')
@RequirePermission(Permission.ApplicationDelivery)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId/workflow')
export class WorkflowNodesController {
  constructor(private readonly workflows: WorkflowNodesService) {}

  @Get()
  @WorkflowNodesApi.listWorkflows
  async list(@Param() params: AppVersionParams): Promise<WorkflowListDto> {
    return { workflows: await this.workflows.list(versionOf(params)) };
  }

  @Get(':workflowName')
  @WorkflowNodesApi.getWorkflow
  async workflow(@Param() params: WorkflowParams): Promise<JsonText> {
    return runYielding(workflowJson(await this.workflows.workflow(workflowOf(params))));
  }

  @Post(':workflowName/node')
  @CheckPathBeforeBody(WorkflowNodesService, WorkflowParams, (workflows, params) =>
    workflows.require(workflowOf(params)),
  )
  @BodyLimit(() => packageLimits.bytes)
  @Audited(AuditAction.WorkflowNodeCreate)
  @WorkflowNodesApi.createWorkflowNode
  async create(
    @CurrentPrincipal() principal: Principal,
    @Param() params: WorkflowParams,
    @Query() { onSequence }: NewNodeQueryDto,
    @Body() body: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WorkflowNodeDto> {
    const shown = await this.workflows.create(principal, workflowOf(params), body, onSequence);
    setLocation(response, ...pathOf(params), 'workflow', params.workflowName, 'node', shown.node.id);
    return respond(response, shown);
  }

  @Get(':workflowName/node/:nodeId')
  @WorkflowNodesApi.getWorkflowNode
  async get(
    @Param() params: WorkflowNodeParams,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WorkflowNodeDto> {
    return respond(response, await this.workflows.node(nodeOf(params)));
  }

  @Put(':workflowName/node/:nodeId')
  @CheckPathBeforeBody(WorkflowNodesService, WorkflowNodeParams, (workflows, params) =>
    workflows.node(nodeOf(params)),
  )
  @BodyLimit(() => packageLimits.bytes)
  @Audited(AuditAction.WorkflowNodeUpdate)
  @WorkflowNodesApi.updateWorkflowNode
  async update(
    @CurrentPrincipal() principal: Principal,
    @Param() params: WorkflowNodeParams,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() body: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WorkflowNodeDto> {
    const tag = requireIfMatch(ifMatch);
    return respond(response, await this.workflows.update(principal, nodeOf(params), tag, body));
  }

  @Delete(':workflowName/node/:nodeId')
  @Audited(AuditAction.WorkflowNodeDelete)
  @WorkflowNodesApi.deleteWorkflowNode
  async remove(
    @CurrentPrincipal() principal: Principal,
    @Param() params: WorkflowNodeParams,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<WorkflowNodeDto> {
    const tag = requireIfMatch(ifMatch);
    return toWorkflowNode(await this.workflows.remove(principal, nodeOf(params), tag));
  }
}

function respond(response: Response, shown: ShownNode): WorkflowNodeDto {
  response.setHeader('ETag', shown.etag);
  return toWorkflowNode(shown);
}
