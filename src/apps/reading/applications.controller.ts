import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../platform/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../platform/auth/access.decorators.js';
import type { Principal } from '../../platform/user/principal.js';
import { AppParams } from '../app.params.dto.js';
import { AppsService } from '../apps.service.js';
import {
  ApplicationPageDto,
  ApplicationsQueryDto,
  AppVersionsQueryDto,
  toVersionPage,
  VersionPageDto,
} from './application.dto.js';
import { ApplicationsApi } from './applications.api.js';

/** Lists applications and their versions (extension of the contract). */
@ApiTags('Applications')
@RequirePermission(Permission.ApplicationDelivery)
@Controller('appmanager/api/resource/app')
export class ApplicationsController {
  constructor(private readonly apps: AppsService) {}

  @Get()
  @ApplicationsApi.listApplications
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ApplicationsQueryDto,
  ): Promise<ApplicationPageDto> {
    const { items: applications, next } = await this.apps.applications(principal, query);
    return { applications, next };
  }

  @Get(':appId/app-version')
  @ApplicationsApi.listVersions
  async versions(
    @Param() { appId }: AppParams,
    @Query() query: AppVersionsQueryDto,
  ): Promise<VersionPageDto> {
    return toVersionPage(await this.apps.versionsOf({ appId, ...query }));
  }
}
