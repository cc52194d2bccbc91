import { Body, Controller, Param, Patch } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { Permission } from '../../../common/auth/permission.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { RateLimit } from '../../../common/rate-limit/rate-limit.decorator.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { connectionOf } from '../../systems/model/authorization.request.dto.js';
import { AppVersionParams, versionOf } from '../../systems/model/path.params.dto.js';
import { ConnectionTestService } from './connection-test.service.js';
import { ConnectionTestRequestDto, ConnectionTestResponseDto } from './connection-test.dto.js';
import { CONNECTION_TEST_EXAMPLES, CONNECTION_TEST_RESULT_EXAMPLES } from './connection-test.examples.js';
import { toConnectionTestResponse } from './connection-test.mapper.js';

/** Connection tests (docs/contract.md, section 2.2). */
@ApiTags('Connection test')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/runtime-internal/app/:appId/app-version/:versionId/rt/system')
export class ConnectionTestController {
  constructor(private readonly tests: ConnectionTestService) {}

  @Patch('integrationengine/api/systems/test-mcp-connection')
  @RateLimit('connection-test')
  @Audited(AuditAction.ConnectionTest)
  @ApiOperation({
    operationId: 'testMcpConnection',
    summary: 'Test the connection to an MCP server',
    description:
      'Connects, reads all tools and, where systems of this version have this very connection, synchronises their tools, in a committed version too. ' +
      'The outcome is in the `status` of the body; the HTTP status is 200 also for a failed test. A test ends within ' +
      '`MCP_TEST_TIMEOUT_MS`, 15 seconds unless the deployment says otherwise, and has a rate limit of its own.',
  })
  @ApiBody({ type: ConnectionTestRequestDto, examples: CONNECTION_TEST_EXAMPLES })
  @ApiOkResponse({
    type: ConnectionTestResponseDto,
    examples: CONNECTION_TEST_RESULT_EXAMPLES,
    description: 'The outcome, good or bad; see `status`.',
  })
  @ApiErrors(400, 403)
  async test(
    @CurrentPrincipal() principal: Principal,
    @Param() params: AppVersionParams,
    @Body() { baseUrl, authorization }: ConnectionTestRequestDto,
  ): Promise<ConnectionTestResponseDto> {
    const connection = connectionOf(baseUrl, authorization);
    return toConnectionTestResponse(await this.tests.test(principal, versionOf(params), connection));
  }
}
