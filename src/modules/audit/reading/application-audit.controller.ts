import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { RequirePermission } from '../../../common/auth/access.decorators.js';
import { AppParams } from '../../apps/app.params.dto.js';
import { AuditService } from '../recording/audit.service.js';
import { ApplicationAuditPageDto, ApplicationAuditQueryDto, toApplicationAuditPage } from './audit.dto.js';
import { AuditApi } from './audit.api.js';

/** Reads the audit log over all versions of an application (extension of the contract). */
@ApiTags('Audit')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/resource/app/:appId/audit')
export class ApplicationAuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @AuditApi.listApplicationAuditEvents
  async list(
    @Param() { appId }: AppParams,
    @Query() { applicationVersionId: appVersionId, ...query }: ApplicationAuditQueryDto,
  ): Promise<ApplicationAuditPageDto> {
    return toApplicationAuditPage(await this.audit.page({ appId, appVersionId, ...query }));
  }
}
