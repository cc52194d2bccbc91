import { Body, Controller, Delete, Get, HttpStatus, Param, Patch, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal, RequirePermission } from '../../platform/auth/access.decorators.js';
import type { Principal } from '../../platform/user/principal.js';
import { Permission } from '../../platform/auth/permission.js';
import { ChangeConditions, readIfMatch, namesTag } from '../../platform/http/conditional-requests.js';
import type { JsonText } from '../../platform/http/json-replies.js';
import { setLocation } from '../../platform/http/answer-headers.js';
import { RequestHeader } from '../../platform/http/request.decorators.js';
import { CheckPathBeforeBody } from '../../platform/http/checked-path.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import {
  CreateSystemRequestDto,
  UpdateSystemRequestDto,
  ReplacedSecretResponseDto,
  replacedSecret,
  ReplaceSecretRequestDto,
  type ReplacedSecret,
} from './system.request.dto.js';
import {
  DeletedSystemResponseDto,
  CreatedSystemResponseDto,
  toCreatedSystemResponse,
  toSystemJson,
} from './system.response.dto.js';
import { AppVersionParams, pathOf, versionOf } from '../../apps/app.params.dto.js';
import { SystemParams, keyOf } from '../model/path.params.dto.js';
import { ClientCertificateRequestDto, tlsOf } from '../model/tls.request.dto.js';
import { SystemCredentialsService } from './system-credentials.service.js';
import { DeploymentLimitsPipe } from './deployment-limits.pipe.js';
import { ListSystemsQuery, toListOptions, toSystemListJson } from './system-list.dto.js';
import { SystemsService } from './systems.service.js';
import { SystemsApi } from './systems.api.js';

const REPLACED: Readonly<Record<ReplacedSecret, string>> = {
  clientSecret: 'Client secret replaced.',
  privateKey: 'Private key replaced.',
  apiKey: 'API key replaced.',
  headers: 'Headers replaced.',
};

/** Manages systems of an application version (docs/contract.md, sections 2.1, 2.3 and 2.4; other routes are extensions). */
@ApiTags('Systems')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId/rt/system')
export class SystemsController {
  constructor(
    private readonly systems: SystemsService,
    private readonly credentials: SystemCredentialsService,
    private readonly conditions: ChangeConditions,
  ) {}

  @Patch('integration/api/systems')
  @Audited(AuditAction.SystemCreate)
  @SystemsApi.createSystem
  async create(
    @CurrentPrincipal() principal: Principal,
    @Param() params: AppVersionParams,
    @Body(DeploymentLimitsPipe) body: CreateSystemRequestDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CreatedSystemResponseDto> {
    const system = await this.systems.create(principal, versionOf(params), body);
    const place = ['rt', 'system', 'ri', system.resourceId, 'integration', 'api', 'systems', 'getById'];
    setLocation(response, ...pathOf(params), ...place);
    return toCreatedSystemResponse({ ...system, hasClientKey: system.clientKey !== null });
  }

  @Get('ri/:systemResourceId/integration/api/systems/getById')
  @SystemsApi.getSystem
  async getById(
    @Param() params: SystemParams,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText | undefined> {
    const key = keyOf(params);
    if (response.req.headers['if-none-match'] !== undefined) {
      const current = await this.systems.tag(key);
      if (namesTag(response.req, current)) {
        response.status(HttpStatus.NOT_MODIFIED).setHeader('ETag', current);
        return undefined;
      }
    }
    const { system, tag } = await this.systems.details(key);
    response.setHeader('ETag', tag);
    return toSystemJson(system);
  }

  @Get('include-dep-res/integration/api/systems/all/info')
  @SystemsApi.listSystems
  async list(@Param() params: AppVersionParams, @Query() query: ListSystemsQuery): Promise<JsonText> {
    return toSystemListJson(await this.systems.list(versionOf(params), toListOptions(query)));
  }

  @Patch('ri/:systemResourceId/integration/api/systems')
  @CheckPathBeforeBody(SystemsService, SystemParams, (systems, params) => systems.idOf(keyOf(params)))
  @Audited(AuditAction.SystemUpdate)
  @SystemsApi.updateSystem
  async update(
    @CurrentPrincipal() principal: Principal,
    @Param() params: SystemParams,
    @RequestHeader('If-Match') ifMatch: string | undefined,
    @Body(DeploymentLimitsPipe) body: UpdateSystemRequestDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    const condition = this.conditions.of(ifMatch);
    const { system, tag } = await this.systems.update(principal, keyOf(params), body, condition);
    response.setHeader('ETag', tag);
    return toSystemJson(system);
  }

  @Delete('ri/:systemResourceId/integration/api/systems')
  @Audited(AuditAction.SystemDelete)
  @SystemsApi.deleteSystem
  async remove(
    @CurrentPrincipal() principal: Principal,
    @Param() params: SystemParams,
    @RequestHeader('If-Match') ifMatch: string | undefined,
  ): Promise<DeletedSystemResponseDto> {
    const condition = this.conditions.of(ifMatch);
    const { resourceId } = await this.systems.remove(principal, keyOf(params), condition);
    return { status: 200, message: 'System deleted.', resourceId };
  }

  @Put('ri/:systemResourceId/integration/api/systems/client-secret')
  @CheckPathBeforeBody(SystemsService, SystemParams, (systems, params) => systems.demandAny(keyOf(params)))
  @Audited(AuditAction.SystemUpdate)
  @SystemsApi.replaceClientSecret
  async replace(
    @CurrentPrincipal() principal: Principal,
    @Param() params: SystemParams,
    @RequestHeader('If-Match') ifMatch: string | undefined,
    @Body() request: ReplaceSecretRequestDto,
  ): Promise<ReplacedSecretResponseDto> {
    const condition = readIfMatch(ifMatch);
    const { resourceId } = await this.credentials.replaceSecret(principal, keyOf(params), request, condition);
    return { status: 200, message: REPLACED[replacedSecret(request)], resourceId };
  }

  @Put('ri/:systemResourceId/integration/api/systems/client-certificate')
  @CheckPathBeforeBody(SystemsService, SystemParams, (systems, params) => systems.demandAny(keyOf(params)))
  @Audited(AuditAction.SystemUpdate)
  @SystemsApi.replaceClientCertificate
  async replaceCertificate(
    @CurrentPrincipal() principal: Principal,
    @Param() params: SystemParams,
    @RequestHeader('If-Match') ifMatch: string | undefined,
    @Body() body: ClientCertificateRequestDto,
  ): Promise<ReplacedSecretResponseDto> {
    const key = keyOf(params);
    const condition = readIfMatch(ifMatch);
    const { resourceId } = await this.credentials.replaceCertificate(principal, key, tlsOf(body), condition);
    return { status: 200, message: 'Client certificate replaced.', resourceId };
  }
}
