import { Body, Controller, Param, Patch, UseGuards } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { Permission } from '../../../common/auth/permission.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { keyOf } from '../../systems/model/path.params.dto.js';
import {
  SwitchToolRequestDto,
  SwitchToolResponseDto,
  ToolParams,
  toSwitchToolResponse,
} from './switch-tool.dto.js';
import { ToolPathGuard } from './tool-path.guard.js';
import { ToolsService } from './tools.service.js';

/** Tools of an MCP system (docs/contract.md, section 2.5). */
@ApiTags('Tools')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId/rt/system/ri/:systemResourceId')
export class ToolsController {
  constructor(private readonly tools: ToolsService) {}

  @Patch('integration/api/systems/ri/:systemId/tool/:toolId/enable')
  @UseGuards(ToolPathGuard)
  @Audited(AuditAction.ToolSwitch)
  @ApiOperation({
    operationId: 'switchTool',
    summary: 'Enable or disable a tool',
    description:
      'The flag is looked at whenever an agent is about to call the tool, so it takes effect at once, in a committed version too. ' +
      'Repeating the call changes nothing. Versions that are still to come take over the flag, with who set it and when, as long as the definition of the tool is the same.',
  })
  @ApiBody({
    type: SwitchToolRequestDto,
    examples: {
      disable: { summary: 'Switch it off', value: { enabled: false } },
      enable: { summary: 'Switch it on', value: { enabled: true } },
    },
  })
  @ApiOkResponse({
    type: SwitchToolResponseDto,
    example: {
      status: 200,
      message: 'Tool disabled.',
      tool: { id: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20', name: 'get-stock', enabled: false },
      affectedNodes: [
        {
          appId: 'sample',
          appVersionId: 'v1',
          buildId: null,
          workflow: 'check_stock',
          nodeId: 'agent',
          nodeName: 'Ask the stock',
        },
      ],
    },
    description: 'The tool as it is now.',
  })
  @ApiErrors(400, 403, { 404: 'Tool not found.' })
  async enable(
    @CurrentPrincipal() principal: Principal,
    @Param() params: ToolParams,
    @Body() { enabled }: SwitchToolRequestDto,
  ): Promise<SwitchToolResponseDto> {
    const key = { ...keyOf(params), systemId: params.systemId, toolId: params.toolId };
    return toSwitchToolResponse(await this.tools.switch(principal, key, enabled));
  }
}
