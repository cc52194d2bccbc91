import { Body, Controller, Param, Put, UseGuards } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { ReplacedSecretResponseDto, ReplaceSecretRequestDto } from './client-secret.dto.js';
import { keyOf, SystemParams } from '../model/path.params.dto.js';
import { REPLACE_SECRET_EXAMPLES, REPLACED_SECRET_EXAMPLE } from '../model/system.examples.js';
import { AnySystemPathGuard } from './system-path.guard.js';
import { SystemsService } from './systems.service.js';

/** Client secrets of systems of all types (an extension of the contract). */
@ApiTags('Systems')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId/rt/system')
export class SystemSecretsController {
  constructor(private readonly systems: SystemsService) {}

  @Put('ri/:systemResourceId/integration/api/systems/client-secret')
  @UseGuards(AnySystemPathGuard)
  @Audited(AuditAction.SystemUpdate)
  @ApiOperation({
    operationId: 'replaceClientSecret',
    summary: 'Set or replace the client secret of a system',
    description:
      'Extension of the contract, for systems of all types with a service account. Allowed in a committed version too: a secret ' +
      'expires, and builds of the version use that of its systems. It is stored encrypted and used from the next call on.',
  })
  @ApiBody({ type: ReplaceSecretRequestDto, examples: REPLACE_SECRET_EXAMPLES })
  @ApiOkResponse({
    type: ReplacedSecretResponseDto,
    example: REPLACED_SECRET_EXAMPLE,
    description: 'The secret is replaced.',
  })
  @ApiErrors(400, 403, 404, { 409: 'The system has no service account.' })
  async replace(
    @CurrentPrincipal() principal: Principal,
    @Param() params: SystemParams,
    @Body() { clientSecret }: ReplaceSecretRequestDto,
  ): Promise<ReplacedSecretResponseDto> {
    const { resourceId } = await this.systems.replaceSecret(principal, keyOf(params), clientSecret);
    return { status: 200, message: 'Client secret replaced.', resourceId };
  }
}
