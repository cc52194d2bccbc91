import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../platform/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../../platform/auth/access.decorators.js';
import { CheckPathBeforeBody } from '../../../platform/http/checked-path.js';
import { RateLimit } from '../../../platform/rate-limit/principal-rate-limit.guard.js';
import type { Principal } from '../../../platform/user/principal.js';
import { AuditAction } from '../../../audit/model/audit.types.js';
import { Audited } from '../../../audit/recording/audited.decorator.js';
import { toolKeyOf, ToolParams } from '../switching/switch-tool.dto.js';
import { ToolsService } from '../switching/tools.service.js';
import { HandCallsService } from './hand-calls.service.js';
import { ToolCallApi } from './tool-call.api.js';
import { ToolCallResponseDto } from './tool-call.dto.js';

/** Calls tools by hand (extension of the contract). */
@ApiTags('Tools')
@RequirePermission(Permission.ToolCall)
@Controller(
  'appmanager/api/runtime-internal/app/:appId/app-version/:versionId/rt/system/ri/:systemResourceId',
)
export class ToolCallController {
  constructor(private readonly calls: HandCallsService) {}

  @Post('integrationengine/api/systems/ri/:systemId/tool/:toolId/call')
  @RateLimit('connection-test')
  @CheckPathBeforeBody(ToolsService, ToolParams, (tools, params) => tools.demandPath(toolKeyOf(params)))
  @Audited(AuditAction.ToolCall)
  @ToolCallApi.callTool
  async call(
    @CurrentPrincipal() principal: Principal,
    @Param() params: ToolParams,
    @Body() body: Record<string, unknown>,
  ): Promise<ToolCallResponseDto> {
    return this.calls.call(principal, toolKeyOf(params), body);
  }
}
