import { Body, Controller, Delete, Get, HttpStatus, Param, Patch, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal, RequirePermission } from '../../../common/auth/access.decorators.js';
import type { Principal } from '../../../common/user/principal.js';
import { Permission } from '../../../common/auth/permission.js';
import { ChangeConditions, namesTag } from '../../../common/http/conditional-requests.js';
import type { JsonText } from '../../../common/http/json-replies.js';
import { locate } from '../../../common/http/answer-headers.js';
import { RequestHeader } from '../../../common/http/request.decorators.js';
import { FoundFirst } from '../../../common/http/checked-path.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { CreateSystemRequestDto } from './create-system.request.dto.js';
import { DeletedSystemResponseDto, toDeletedSystemResponse } from './deleted-system.response.dto.js';
import { AppVersionParams, pathOf, versionOf } from '../../apps/app.params.dto.js';
import { SystemParams, keyOf } from '../model/path.params.dto.js';
import { DeploymentLimitsPipe } from './deployment-limits.pipe.js';
import { ListSystemsQuery, toListOptions, toSystemListJson } from './system-list.dto.js';
import { CreatedSystemResponseDto, toCreatedSystemResponse, toSystemJson } from './system.response.dto.js';
import { UpdateSystemRequestDto } from './update-system.request.dto.js';
import { SystemsService } from './systems.service.js';
import { SystemsApi } from './systems.api.js';

/** Systems of an application version (docs/contract.md, sections 2.1, 2.3 and 2.4; update and delete are extensions). */
@ApiTags('Systems')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId/rt/system')
export class SystemsController {
  constructor(
    private readonly systems: SystemsService,
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
    const [version, place] = [
      pathOf(params),
      ['ri', system.resourceId, 'integration', 'api', 'systems', 'getById'],
    ];
    locate(response, ...version, 'rt', 'system', ...place);
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
  @FoundFirst(SystemsService, SystemParams, (systems, params) => systems.idOf(keyOf(params)))
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
    return toDeletedSystemResponse(await this.systems.remove(principal, keyOf(params), condition));
  }
}
