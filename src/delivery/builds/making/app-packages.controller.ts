import { Body, Controller, Get, Param, Post, Put, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Permission } from '../../../platform/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../../platform/auth/access.decorators.js';
import type { Principal } from '../../../platform/user/principal.js';
import { BodyAsBytes, RequestHeader, BodyLimit } from '../../../platform/http/request.decorators.js';
import { JsonText } from '../../../platform/http/json-replies.js';
import { setLocation, withReplayHeader } from '../../../platform/http/answer-headers.js';
import { readIfMatch } from '../../../platform/http/conditional-requests.js';
import { packageLimits } from '../../packages/package.limits.js';
import { AuditAction } from '../../../audit/model/audit.types.js';
import { Audited } from '../../../audit/recording/audited.decorator.js';
import { AppPackagesService } from '../packages/app-packages.service.js';
import { BuildsService } from './builds.service.js';
import { AppVersionParams, versionOf } from '../../../apps/app.params.dto.js';
import { NewBuildResponseDto, toNewBuild } from './build.response.dto.js';
import { CommitVersionRequestDto, CommittedVersionResponseDto } from './commit.dto.js';
import { PackageProblemsResponseDto, StoredPackageResponseDto } from '../model/package.dto.js';

import { VersionCommitsService } from './version-commits.service.js';
import { AppPackagesApi } from './app-packages.api.js';

/** Stores application packages in draft versions, commits versions and makes builds (extension of the contract). */
@ApiTags('Application packages')
@RequirePermission(Permission.ApplicationDelivery)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId')
export class AppPackagesController {
  constructor(
    private readonly packages: AppPackagesService,

    private readonly commits: VersionCommitsService,
    private readonly builds: BuildsService,
  ) {}

  @Put('package')
  @BodyLimit(() => packageLimits.bytes)
  @BodyAsBytes()
  @Audited(AuditAction.PackageStore)
  @AppPackagesApi.storePackage
  async store(
    @CurrentPrincipal() principal: Principal,
    @Param() params: AppVersionParams,
    @Body() body: Buffer,
  ): Promise<StoredPackageResponseDto> {
    return this.packages.store(principal, versionOf(params), body);
  }

  @Get('package')
  @AppPackagesApi.getPackage
  async get(@Param() params: AppVersionParams): Promise<JsonText> {
    return new JsonText(await this.packages.get(versionOf(params)));
  }

  @Get('package/problems')
  @AppPackagesApi.checkPackage
  async check(
    @CurrentPrincipal() principal: Principal,
    @Param() params: AppVersionParams,
  ): Promise<PackageProblemsResponseDto> {
    return { problems: await this.commits.problems(principal, versionOf(params)) };
  }

  @Post('commit')
  @Audited(AuditAction.VersionCommit)
  @AppPackagesApi.commitVersion
  async commit(
    @CurrentPrincipal() principal: Principal,
    @Param() params: AppVersionParams,
    @RequestHeader('If-Match') ifMatch: string | undefined,
    @Body() { message }: CommitVersionRequestDto,
  ): Promise<CommittedVersionResponseDto> {
    return this.commits.commit(principal, versionOf(params), message ?? null, readIfMatch(ifMatch));
  }

  @Post('build')
  @Audited(AuditAction.BuildCreate)
  @AppPackagesApi.createBuild
  async build(
    @CurrentPrincipal() principal: Principal,
    @Param() params: AppVersionParams,
    @RequestHeader('Idempotency-Key') idempotencyKey: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NewBuildResponseDto> {
    const made = await this.builds.create(principal, versionOf(params), idempotencyKey);
    const build = toNewBuild(withReplayHeader(response, made));
    setLocation(response, 'appmanager', 'api', 'resource', 'app', params.appId, 'build', build.buildId);
    return build;
  }
}
