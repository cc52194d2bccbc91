import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../platform/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../platform/auth/access.decorators.js';
import type { Principal } from '../../platform/user/principal.js';
import { IncidentInboxApi } from './incident-inbox.api.js';
import {
  IncidentCountsDto,
  IncidentCountsQueryDto,
  IncidentPageDto,
  IncidentsQueryDto,
} from '../model/incident-inbox.dto.js';
import { IncidentInboxService } from './incident-inbox.service.js';

/** Lists incidents across all instances (extension of the contract). */
@ApiTags('Incidents')
@RequirePermission(Permission.ProcessRead)
@Controller('rtm/api/runtime/process-incident')
export class IncidentInboxController {
  constructor(private readonly inbox: IncidentInboxService) {}

  @Get()
  @IncidentInboxApi.listProcessIncidents
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: IncidentsQueryDto,
  ): Promise<IncidentPageDto> {
    return this.inbox.page(principal, query);
  }

  @Get('counts')
  @IncidentInboxApi.countProcessIncidents
  async counts(
    @CurrentPrincipal() principal: Principal,
    @Query() query: IncidentCountsQueryDto,
  ): Promise<IncidentCountsDto> {
    return this.inbox.counts(principal, query);
  }
}
