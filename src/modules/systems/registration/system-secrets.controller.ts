import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../../common/auth/access.decorators.js';
import type { Principal } from '../../../common/user/principal.js';
import { FoundFirst } from '../../../common/http/checked-path.js';
import { readIfMatch } from '../../../common/http/conditional-requests.js';
import { RequestHeader } from '../../../common/http/request.decorators.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { ReplacedSecretResponseDto, ReplaceSecretRequestDto } from './client-secret.dto.js';
import { keyOf, SystemParams } from '../model/path.params.dto.js';
import { ClientCertificateRequestDto, tlsOf } from '../model/tls.request.dto.js';
import { replacedSecret, type ReplacedSecret } from './secret-replacement.js';
import { SystemCredentialsService } from './system-credentials.service.js';
import { SystemsService } from './systems.service.js';
import { SystemSecretsApi } from './system-secrets.api.js';

const REPLACED: Readonly<Record<ReplacedSecret, string>> = {
  clientSecret: 'Client secret replaced.',
  privateKey: 'Private key replaced.',
  apiKey: 'API key replaced.',
  headers: 'Headers replaced.',
};

/** Secrets and certificates of systems of all types (an extension of the contract). */
@ApiTags('Systems')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId/rt/system')
export class SystemSecretsController {
  constructor(private readonly credentials: SystemCredentialsService) {}

  @Put('ri/:systemResourceId/integration/api/systems/client-secret')
  @FoundFirst(SystemsService, SystemParams, (systems, params) => systems.demandAny(keyOf(params)))
  @Audited(AuditAction.SystemUpdate)
  @SystemSecretsApi.replaceClientSecret
  async replace(
    @CurrentPrincipal() principal: Principal,
    @Param() params: SystemParams,
    @RequestHeader('If-Match') ifMatch: string | undefined,
    @Body() request: ReplaceSecretRequestDto,
  ): Promise<ReplacedSecretResponseDto> {
    const condition = readIfMatch(ifMatch);
    const { resourceId } = await this.credentials.replaceSecret(principal, keyOf(params), request, condition);
    return { status: 200, message: REPLACED[replacedSecret(request)], resourceId };
  }

  @Put('ri/:systemResourceId/integration/api/systems/client-certificate')
  @FoundFirst(SystemsService, SystemParams, (systems, params) => systems.demandAny(keyOf(params)))
  @Audited(AuditAction.SystemUpdate)
  @SystemSecretsApi.replaceClientCertificate
  async replaceCertificate(
    @CurrentPrincipal() principal: Principal,
    @Param() params: SystemParams,
    @RequestHeader('If-Match') ifMatch: string | undefined,
    @Body() body: ClientCertificateRequestDto,
  ): Promise<ReplacedSecretResponseDto> {
    const [tls, condition] = [tlsOf(body), readIfMatch(ifMatch)];
    const { resourceId } = await this.credentials.replaceCertificate(
      principal,
      keyOf(params),
      tls,
      condition,
    );
    return { status: 200, message: 'Client certificate replaced.', resourceId };
  }
}
