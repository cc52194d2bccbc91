import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../platform/auth/permission.js';
import { RequirePermission } from '../../platform/auth/access.decorators.js';
import { AppParams, AppVersionParams, versionOf } from '../../apps/app.params.dto.js';
import { AuditService } from '../recording/audit.service.js';
import {
  ApplicationAuditPageDto,
  ApplicationAuditQueryDto,
  AuditPageDto,
  AuditQueryDto,
  toApplicationAuditPage,
  toAuditPage,
} from './audit.dto.js';
import { AuditApi } from './audit.api.js';

/** Lists audit events of one version, or of all versions of an application (extension of the contract). */
@ApiTags('Audit')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/resource/app/:appId')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get('audit')
  @AuditApi.listApplicationAuditEvents
  async listOfApplication(
    @Param() { appId }: AppParams,
    @Query() { applicationVersionId: appVersionId, ...query }: ApplicationAuditQueryDto,
  ): Promise<ApplicationAuditPageDto> {
    return toApplicationAuditPage(await this.audit.page({ appId, appVersionId, ...query }));
  }

  @Get('app-version/:versionId/rt/system/integration/api/systems/audit')
  @AuditApi.listAuditEvents
  async list(@Param() params: AppVersionParams, @Query() query: AuditQueryDto): Promise<AuditPageDto> {
    return toAuditPage(await this.audit.page({ ...versionOf(params), ...query }));
  }
}
