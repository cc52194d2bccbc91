import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../../platform/auth/permission.js';
import type { JsonText } from '../../../../platform/http/json-replies.js';
import { runYielding } from '#engine/support';
import { RequirePermission } from '../../../../platform/auth/access.decorators.js';
import { AppVersionParams, versionOf } from '../../../../apps/app.params.dto.js';
import { BuildParams } from '../../../../delivery/builds/model/build.params.dto.js';
import { preflightJson } from './preflight.dto.js';
import { PreflightService } from './preflight.service.js';
import { PreflightApi } from './preflight.api.js';

/** Checks the systems and tools of agents before they run (extension of the contract). */
@ApiTags('Workflows')
@RequirePermission(Permission.ApplicationDelivery)
@Controller('appmanager/api/resource/app/:appId')
export class PreflightController {
  constructor(private readonly preflight: PreflightService) {}

  @Get('app-version/:versionId/agent-preflight')
  @PreflightApi.preflightVersion
  async version(@Param() params: AppVersionParams): Promise<JsonText> {
    return runYielding(preflightJson(await this.preflight.ofVersion(versionOf(params))));
  }

  @Get('build/:buildId/agent-preflight')
  @PreflightApi.preflightBuild
  async build(@Param() { appId, buildId }: BuildParams): Promise<JsonText> {
    return runYielding(preflightJson(await this.preflight.ofBuild(appId, buildId)));
  }
}
