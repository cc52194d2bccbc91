import { Body, Controller, Get, HttpCode, HttpStatus, Param, Post, Put } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { BodyLimit } from '../../../common/http/body-limit.decorator.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { AppPackagesService } from '../packages/app-packages.service.js';
import { BuildsService } from './builds.service.js';
import {
  COMMIT_EXAMPLE,
  COMMITTED_VERSION_EXAMPLE,
  MANIFEST_EXAMPLE,
  PACKAGE_EXAMPLE,
  PACKAGE_REFUSED_EXAMPLE,
  STORED_PACKAGE_EXAMPLE,
} from '../model/build.examples.js';
import { DeliveryParams, versionOf } from '../model/build.params.dto.js';
import { NewBuildResponseDto, toNewBuild } from './build.response.dto.js';
import { CommitVersionRequestDto, CommittedVersionResponseDto, toCommittedVersion } from './commit.dto.js';
import {
  PackageRefusedResponseDto,
  StoredPackageResponseDto,
  toStoredPackage,
} from '../model/package.dto.js';
import { VersionCommitsService } from './version-commits.service.js';

const DENIED = { 403: 'Insufficient permissions to deliver applications' };
const COMMITTED = { 409: 'The application version is committed and can no longer be changed.' };
const PACKAGE_SCHEMA = { type: 'object', additionalProperties: true } as const;

/** Delivers application packages: into a draft version, its commit, its builds (extension of the contract). */
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
  @BodyLimit('PACKAGE_MAX_BYTES')
  @Audited(AuditAction.PackageStore)
  @ApiOperation({
    operationId: 'storePackage',
    summary: 'Store an application package in a draft version',
    description:
      'Extension of the contract. The whole package as one JSON document, in the place of the one before; the version comes into ' +
      'being when it is new. Everything wrong is told at once under `problems`, and then nothing is stored. The package is the ' +
      'whole truth about REST and NOSQL_DB systems of the version; MCP systems that it does not name stay. Systems that stay keep ' +
      'their ids, tools and secrets; a secret goes when its connection leads elsewhere. The same package again changes nothing. ' +
      '409 also where it names a library whose package does not say that this application may use it (`usableBy`).',
  })
  @ApiBody({
    schema: PACKAGE_SCHEMA,
    examples: { package: { summary: 'A small package', value: PACKAGE_EXAMPLE } },
  })
  @ApiOkResponse({
    type: StoredPackageResponseDto,
    example: STORED_PACKAGE_EXAMPLE,
    description: 'The package is stored.',
  })
  @ApiBadRequestResponse({
    type: PackageRefusedResponseDto,
    example: PACKAGE_REFUSED_EXAMPLE,
    description: 'Malformed request, or a package with problems, all of which are told.',
  })
  @ApiErrors(400, DENIED, COMMITTED)
  async store(
    @CurrentPrincipal() principal: Principal,
    @Param() params: DeliveryParams,
    @Body() body: Record<string, unknown>,
  ): Promise<StoredPackageResponseDto> {
    return toStoredPackage(await this.packages.store(principal, versionOf(params), body));
  }

  @Get('package')
  @ApiOperation({
    operationId: 'getPackage',
    summary: 'Get the package of a version',
    description:
      'Extension of the contract. The package as it was delivered; the text of its files is unchanged.',
  })
  @ApiOkResponse({ schema: PACKAGE_SCHEMA, example: PACKAGE_EXAMPLE, description: 'The package.' })
  @ApiErrors(400, DENIED, { 404: 'Application package not found.' })
  async get(@Param() params: DeliveryParams): Promise<Record<string, unknown>> {
    return this.packages.get(versionOf(params));
  }

  @Post('commit')
  @HttpCode(HttpStatus.OK)
  @Audited(AuditAction.VersionCommit)
  @ApiOperation({
    operationId: 'commitVersion',
    summary: 'Commit an application version',
    description:
      'Extension of the contract. The version becomes read-only for ever: its package and its systems. Tools can still be synchronised and switched. ' +
      '409 when that was done before, when a system that its package names was deleted, or when no build of it could be made. `warnings` names the systems whose ' +
      'connection was never tested, and agents that cannot use what they refer to.',
  })
  @ApiBody({
    type: CommitVersionRequestDto,
    required: false,
    examples: { commit: { summary: 'With a message', value: COMMIT_EXAMPLE } },
  })
  @ApiOkResponse({
    type: CommittedVersionResponseDto,
    example: COMMITTED_VERSION_EXAMPLE,
    description: 'The version is committed.',
  })
  @ApiErrors(400, DENIED, { 404: 'Application version not found.' }, COMMITTED)
  async commit(
    @CurrentPrincipal() principal: Principal,
    @Param() params: DeliveryParams,
    @Body() { message }: CommitVersionRequestDto,
  ): Promise<CommittedVersionResponseDto> {
    return toCommittedVersion(await this.commits.commit(principal, versionOf(params), message ?? null));
  }

  @Post('build')
  @Audited(AuditAction.BuildCreate)
  @ApiOperation({
    operationId: 'createBuild',
    summary: 'Make a build of a committed version',
    description:
      'Extension of the contract. An immutable snapshot: processes, workflows, systems of all types, definition and flag of ' +
      'every tool at this moment, and the builds of its libraries. A version can have several builds. Secrets are not copied: ' +
      'a build uses those of the systems of its version. `warnings` names the systems whose connection was never tested, and agents that cannot ' +
      'use what they refer to. 409 also where the application may not use a library that it names (`usableBy`).',
  })
  @ApiCreatedResponse({
    type: NewBuildResponseDto,
    example: { ...MANIFEST_EXAMPLE, warnings: [] },
    description: 'The build and what it holds.',
  })
  @ApiErrors(
    400,
    DENIED,
    { 404: 'Application version not found.' },
    { 409: 'The application version is a draft: commit it first.' },
  )
  async build(
    @CurrentPrincipal() principal: Principal,
    @Param() params: DeliveryParams,
  ): Promise<NewBuildResponseDto> {
    return toNewBuild(await this.builds.create(principal, versionOf(params)));
  }
}
