import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { RequirePermission } from '../../../common/auth/access.decorators.js';
import { AppVersionParams, versionOf } from '../../apps/app.params.dto.js';
import { AuditService } from '../recording/audit.service.js';
import { AuditPageDto, AuditQueryDto, toAuditPage } from './audit.dto.js';
import { AuditApi } from './audit.api.js';

/** Reads the audit log of an application version (extension of the contract). */
@ApiTags('Audit')
@RequirePermission(Permission.IntegrationManagement)
@Controller(
  'appmanager/api/resource/app/:appId/app-version/:versionId/rt/system/integration/api/systems/audit',
)
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @AuditApi.listAuditEvents
  async list(@Param() params: AppVersionParams, @Query() query: AuditQueryDto): Promise<AuditPageDto> {
    return toAuditPage(await this.audit.page({ ...versionOf(params), ...query }));
  }
}
