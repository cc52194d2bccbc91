import { Body, Controller, HttpCode, HttpStatus, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, RequirePermission } from '../../../platform/auth/access.decorators.js';
import type { Principal } from '../../../platform/user/principal.js';
import { Permission } from '../../../platform/auth/permission.js';
import { RateLimit } from '../../../platform/rate-limit/principal-rate-limit.guard.js';
import { AuditAction } from '../../../audit/model/audit.types.js';
import { Audited } from '../../../audit/recording/audited.decorator.js';
import { SystemConnectionsService } from '../../lookups/system-connections.service.js';
import { connectionOf } from '../../model/authorization.request.dto.js';
import { keyOf, SystemParams } from '../../model/path.params.dto.js';
import { AppVersionParams, versionOf } from '../../../apps/app.params.dto.js';
import { ConnectionTestService } from './connection-test.service.js';
import {
  ConnectionTestRequestDto,
  ConnectionTestResponseDto,
  toConnectionTestResponse,
} from './connection-test.dto.js';
import { ConnectionTestApi } from './connection-test.api.js';

/** Connection tests (docs/contract.md, section 2.2). */
@ApiTags('Connection test')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/runtime-internal/app/:appId/app-version/:versionId/rt/system')
export class ConnectionTestController {
  constructor(
    private readonly tests: ConnectionTestService,
    private readonly connections: SystemConnectionsService,
  ) {}

  @Patch('integrationengine/api/systems/test-mcp-connection')
  @RateLimit('connection-test')
  @Audited(AuditAction.ConnectionTest)
  @ConnectionTestApi.testMcpConnection
  async test(
    @CurrentPrincipal() principal: Principal,
    @Param() params: AppVersionParams,
    @Body() request: ConnectionTestRequestDto,
  ): Promise<ConnectionTestResponseDto> {
    const tested = await this.tests.test(principal, versionOf(params), connectionOf(request));
    return toConnectionTestResponse(tested);
  }

  @Post('ri/:systemResourceId/integrationengine/api/systems/test-mcp-connection')
  @HttpCode(HttpStatus.OK)
  @RateLimit('connection-test')
  @Audited(AuditAction.ConnectionTest)
  @ConnectionTestApi.testStoredConnection
  async testStored(
    @CurrentPrincipal() principal: Principal,
    @Param() params: SystemParams,
  ): Promise<ConnectionTestResponseDto> {
    const system = keyOf(params);
    const connection = await this.connections.ofSystem(system);
    return toConnectionTestResponse(await this.tests.test(principal, system, connection));
  }
}
