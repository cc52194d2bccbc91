import { Body, Controller, Get, Header, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Permission } from '../../../platform/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../../platform/auth/access.decorators.js';
import type { Principal } from '../../../platform/user/principal.js';
import { ChangeConditions } from '../../../platform/http/conditional-requests.js';
import { RequestHeader } from '../../../platform/http/request.decorators.js';
import { AuditAction } from '../../../audit/model/audit.types.js';
import { AppParams } from '../../../apps/app.params.dto.js';
import { Audited } from '../../../audit/recording/audited.decorator.js';
import { ActiveBuildsService, activeBuildTag } from './active-builds.service.js';
import { BuildReadsService } from '../contents/build-reads.service.js';
import {
  ActivateBuildRequestDto,
  ActivatedBuildResponseDto,
  ActiveBuildResponseDto,
  BuildInfoResponseDto,
  toActiveBuild,
  WithdrawBuildRequestDto,
  WithdrawnBuildResponseDto,
} from './active-build.dto.js';
import {
  BuildDifferencesQueryDto,
  BuildParams,
  BuildProcessParams,
  BuildsQueryDto,
  definitionOf,
} from '../model/build.params.dto.js';
import {
  BuildManifestResponseDto,
  BuildPageDto,
  toBuildPage,
  toManifest,
} from '../making/build.response.dto.js';
import type { BuildDifferencesResponseDto } from '../differences/build-differences.dto.js';
import { BuildDifferencesService } from '../differences/build-differences.service.js';
import { BuildInfoApi, BuildsApi } from './builds.api.js';

/** Shows the builds of an application and chooses the active one (extension of the contract). */
@ApiTags('Builds')
@RequirePermission(Permission.ApplicationDelivery)
@Controller('appmanager/api/resource/app/:appId')
export class BuildsController {
  constructor(
    private readonly reads: BuildReadsService,
    private readonly actives: ActiveBuildsService,
    private readonly conditions: ChangeConditions,
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
    @RequestHeader('If-Match') ifMatch: string | undefined,
    @Body() { buildId }: ActivateBuildRequestDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ActivatedBuildResponseDto> {
    const condition = this.conditions.ofUpsert(ifMatch);
    const activation = await this.actives.activate(principal, appId, buildId, condition);
    response.setHeader('ETag', activeBuildTag(activation));
    return toActiveBuild(activation);
  }

  @Post('build/:buildId/withdraw')
  @Audited(AuditAction.BuildWithdraw)
  @BuildsApi.withdrawBuild
  async withdraw(
    @CurrentPrincipal() principal: Principal,
    @Param() { appId, buildId }: BuildParams,
    @Body() { running }: WithdrawBuildRequestDto,
  ): Promise<WithdrawnBuildResponseDto> {
    return this.actives.withdraw(principal, appId, buildId, running);
  }

  @Get('active-build')
  @BuildsApi.getActiveBuild
  async active(
    @Param() { appId }: AppParams,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ActiveBuildResponseDto> {
    const active = await this.actives.get(appId);
    response.setHeader('ETag', activeBuildTag(active));
    return toActiveBuild(active);
  }
}

/** Compares a build with the active one or another one (extension of the contract). */
@ApiTags('Builds')
@RequirePermission(Permission.ApplicationDelivery)
@Controller('appmanager/api/resource/app/:appId')
export class BuildDifferencesController {
  constructor(private readonly differences: BuildDifferencesService) {}

  @Get('build/:buildId/differences')
  @BuildsApi.compareBuild
  async compare(
    @Param() { appId, buildId }: BuildParams,
    @Query() { baseBuildId }: BuildDifferencesQueryDto,
  ): Promise<BuildDifferencesResponseDto> {
    return this.differences.ofBuild(appId, buildId, baseBuildId);
  }
}

/** Returns the active build to front ends (docs/contract.md, section 6: the contract only mentions the route). */
@ApiTags('Builds')
@ApiBearerAuth('bearer')
@Controller('rtm/api/runtime/app/:appId/build')
export class BuildInfoController {
  constructor(private readonly actives: ActiveBuildsService) {}

  @Get('info')
  @BuildInfoApi.getBuildInfo
  async info(@Param() { appId }: AppParams): Promise<BuildInfoResponseDto> {
    return this.actives.info(appId);
  }
}
