import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { AuditService } from '../recording/audit.service.js';
import { AUDIT_PAGE_EXAMPLE } from './audit.examples.js';
import { AuditPageDto, AuditParams, AuditQueryDto, toAuditPage } from './audit.dto.js';

/** Reads the audit log of an application version (extension of the contract). */
@ApiTags('Audit')
@RequirePermission(Permission.IntegrationManagement)
@Controller(
  'appmanager/api/resource/app/:appId/app-version/:versionId/rt/system/integration/api/systems/audit',
)
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @ApiOperation({
    operationId: 'listAuditEvents',
    summary: 'List audit events of an application version',
    description:
      'Extension of the contract. Who did what to the version or one of its systems and tools, when, and how it ended; newest first. ' +
      'Events of deleted systems stay. Follow `next` until it is null.',
  })
  @ApiOkResponse({ type: AuditPageDto, example: AUDIT_PAGE_EXAMPLE, description: 'A page of events.' })
  @ApiErrors(400, 403)
  async list(
    @Param() { appId, versionId }: AuditParams,
    @Query() query: AuditQueryDto,
  ): Promise<AuditPageDto> {
    return toAuditPage(await this.audit.page({ appId, appVersionId: versionId, ...query }));
  }
}
