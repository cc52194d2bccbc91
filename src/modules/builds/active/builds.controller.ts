import { Body, Controller, Get, Header, Param, Put, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { AuditAction } from '../../audit/model/audit.types.js';
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
import {
  ACTIVATED_BUILD_EXAMPLE,
  ACTIVATE_EXAMPLE,
  ACTIVE_BUILD_EXAMPLE,
  BPMN_EXAMPLE,
  BUILD_PAGE_EXAMPLE,
  MANIFEST_EXAMPLE,
} from '../model/build.examples.js';
import {
  AppParams,
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

const XML = 'application/xml';
const DENIED = { 403: 'Insufficient permissions to deliver applications' };
const NO_BUILD = { 404: 'Build not found for this application.' };

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
  @ApiOperation({
    operationId: 'listBuilds',
    summary: 'List the builds of an application',
    description:
      'Extension of the contract. Newest first. Follow `next` until it is null. An unknown application has none.',
  })
  @ApiOkResponse({ type: BuildPageDto, example: BUILD_PAGE_EXAMPLE, description: 'A page of builds.' })
  @ApiErrors(400, DENIED)
  async list(@Param() { appId }: AppParams, @Query() query: BuildsQueryDto): Promise<BuildPageDto> {
    return toBuildPage(await this.reads.page({ appId, ...query }));
  }

  @Get('build/:buildId')
  @ApiOperation({
    operationId: 'getBuild',
    summary: 'Get the manifest of a build',
    description: 'Extension of the contract. What the build holds, with the ids of every resource.',
  })
  @ApiOkResponse({ type: BuildManifestResponseDto, example: MANIFEST_EXAMPLE, description: 'The manifest.' })
  @ApiErrors(400, DENIED, NO_BUILD)
  async get(@Param() { appId, buildId }: BuildParams): Promise<BuildManifestResponseDto> {
    return toManifest(await this.reads.manifest(appId, buildId));
  }

  @Get('build/:buildId/process/:processDefinitionName/bpmn')
  @Header('Content-Type', XML)
  @ApiOperation({
    operationId: 'getBuildBpmn',
    summary: 'Get a process of a build as BPMN',
    description:
      'Extension of the contract. The BPMN 2.0 file that the process comes from, unchanged; a modeller opens it again.',
  })
  @ApiOkResponse({
    content: { [XML]: { schema: { type: 'string' }, example: BPMN_EXAMPLE } },
    description: 'The file as it was delivered.',
  })
  @ApiErrors(400, DENIED, NO_BUILD)
  async bpmn(@Param() params: BuildProcessParams): Promise<string> {
    return this.reads.bpmn(definitionOf(params));
  }

  @Put('active-build')
  @Audited(AuditAction.BuildActivate)
  @ApiOperation({
    operationId: 'activateBuild',
    summary: 'Choose the active build of an application',
    description:
      'Extension of the contract. Effective at once for what starts from now on; running process instances keep their build. ' +
      'Activating an earlier build rolls back. The active build again changes nothing.',
  })
  @ApiBody({
    type: ActivateBuildRequestDto,
    examples: { activate: { summary: 'A build', value: ACTIVATE_EXAMPLE } },
  })
  @ApiOkResponse({
    type: ActivatedBuildResponseDto,
    example: ACTIVATED_BUILD_EXAMPLE,
    description: 'The build is active.',
  })
  @ApiErrors(400, DENIED, NO_BUILD)
  async activate(
    @CurrentPrincipal() principal: Principal,
    @Param() { appId }: AppParams,
    @Body() { buildId }: ActivateBuildRequestDto,
  ): Promise<ActivatedBuildResponseDto> {
    return toActivatedBuild(await this.actives.activate(principal, appId, buildId));
  }

  @Get('active-build')
  @ApiOperation({
    operationId: 'getActiveBuild',
    summary: 'Get the active build of an application',
    description: 'Extension of the contract.',
  })
  @ApiOkResponse({
    type: ActiveBuildResponseDto,
    example: ACTIVE_BUILD_EXAMPLE,
    description: 'The active build.',
  })
  @ApiErrors(400, DENIED, { 404: 'The application has no active build.' })
  async active(@Param() { appId }: AppParams): Promise<ActiveBuildResponseDto> {
    return toActiveBuild(await this.actives.get(appId));
  }
}
