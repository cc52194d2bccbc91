import { Body, Controller, Get, Header, Param, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { AppParams } from '../../apps/app.params.dto.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { ActiveBuildsService } from './active-builds.service.js';
import { BuildReadsService } from '../contents/build-reads.service.js';
import {
  ActivateBuildRequestDto,
  ActivatedBuildResponseDto,
  ActiveBuildResponseDto,
  toActivatedBuild,
  toActiveBuild,
} from './active-build.dto.js';
import { BuildParams, BuildProcessParams, BuildsQueryDto, definitionOf } from '../model/build.params.dto.js';
import {
  BuildManifestResponseDto,
  BuildPageDto,
  toBuildPage,
  toManifest,
} from '../making/build.response.dto.js';
import { BuildsApi } from './builds.api.js';

/** Shows the builds of an application and chooses the active one (extension of the contract). */
@ApiTags('Builds')
@RequirePermission(Permission.ApplicationDelivery)
@Controller('appmanager/api/resource/app/:appId')
export class BuildsController {
  constructor(
    private readonly reads: BuildReadsService,
    private readonly actives: ActiveBuildsService,
  ) {}

  @Get('builds')
  @BuildsApi.listBuilds
  async list(@Param() { appId }: AppParams, @Query() query: BuildsQueryDto): Promise<BuildPageDto> {
    return toBuildPage(await this.reads.page({ appId, ...query }));
  }

  @Get('build/:buildId')
  @BuildsApi.getBuild
  async get(@Param() { appId, buildId }: BuildParams): Promise<BuildManifestResponseDto> {
    return toManifest(await this.reads.manifest(appId, buildId));
  }

  @Get('build/:buildId/process/:processDefinitionName/bpmn')
  @Header('Content-Type', 'application/xml')
  @BuildsApi.getBuildBpmn
  async bpmn(@Param() params: BuildProcessParams): Promise<string> {
    return this.reads.bpmn(definitionOf(params));
  }

  @Put('active-build')
  @Audited(AuditAction.BuildActivate)
  @BuildsApi.activateBuild
  async activate(
    @CurrentPrincipal() principal: Principal,
    @Param() { appId }: AppParams,
    @Body() { buildId }: ActivateBuildRequestDto,
  ): Promise<ActivatedBuildResponseDto> {
    return toActivatedBuild(await this.actives.activate(principal, appId, buildId));
  }

  @Get('active-build')
  @BuildsApi.getActiveBuild
  async active(@Param() { appId }: AppParams): Promise<ActiveBuildResponseDto> {
    return toActiveBuild(await this.actives.get(appId));
  }
}
