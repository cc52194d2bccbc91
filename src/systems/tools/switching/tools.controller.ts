import { Body, Controller, Get, Param, Patch, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal, RequirePermission } from '../../../platform/auth/access.decorators.js';
import type { Principal } from '../../../platform/user/principal.js';
import { Permission } from '../../../platform/auth/permission.js';
import { readIfMatch } from '../../../platform/http/conditional-requests.js';
import { RequestHeader } from '../../../platform/http/request.decorators.js';
import { CheckPathBeforeBody } from '../../../platform/http/checked-path.js';
import { AuditAction } from '../../../audit/model/audit.types.js';
import { Audited } from '../../../audit/recording/audited.decorator.js';
import { keyOf, SystemParams } from '../../model/path.params.dto.js';
import { ToolReviewsApi, ToolsApi } from './tools.api.js';
import { ToolReviewPageDto, ToolReviewsQueryDto, toToolReviewPage } from '../reviewing/tool-reviews.dto.js';
import {
  SwitchToolRequestDto,
  SwitchToolResponseDto,
  ToolParams,
  toolKeyOf,
  toSwitchToolResponse,
} from './switch-tool.dto.js';
import { ToolsService } from './tools.service.js';

/** Enables and disables tools of an MCP system (docs/contract.md, section 2.5) and lists those that await a decision (an extension). */
@ApiTags('Tools')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId/rt/system/ri/:systemResourceId')
export class ToolsController {
  constructor(private readonly tools: ToolsService) {}

  @Get('integration/api/systems/tool-reviews')
  @ToolReviewsApi.listToolReviews
  async listReviews(
    @Param() params: SystemParams,
    @Query() query: ToolReviewsQueryDto,
  ): Promise<ToolReviewPageDto> {
    return toToolReviewPage(await this.tools.waiting(keyOf(params), query));
  }

  @Patch('integration/api/systems/ri/:systemId/tool/:toolId/enable')
  @CheckPathBeforeBody(ToolsService, ToolParams, (tools, params) => tools.demandPath(toolKeyOf(params)))
  @Audited(AuditAction.ToolSwitch)
  @ToolsApi.switchTool
  async enable(
    @CurrentPrincipal() principal: Principal,
    @Param() params: ToolParams,
    @RequestHeader('If-Match') ifMatch: string | undefined,
    @Body() { enabled }: SwitchToolRequestDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SwitchToolResponseDto> {
    // Optional, because the interface contract has no 428 response.
    const condition = readIfMatch(ifMatch);
    const switched = await this.tools.switch(principal, toolKeyOf(params), enabled, condition);
    if (switched.tag !== null) {
      response.setHeader('ETag', switched.tag);
    }
    return toSwitchToolResponse(switched);
  }
}
