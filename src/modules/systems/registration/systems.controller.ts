import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Param,
  Patch,
  Query,
  UseGuards,
} from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { Permission } from '../../../common/auth/permission.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { CreateSystemRequestDto } from './create-system.request.dto.js';
import { DeletedSystemResponseDto, toDeletedSystemResponse } from './deleted-system.response.dto.js';
import { AppVersionParams, SystemParams, keyOf, versionOf } from '../model/path.params.dto.js';
import { ListSystemsQuery, SystemListResponseDto, toListOptions, toSystemList } from './system-list.dto.js';
import {
  CREATED_SYSTEM_EXAMPLES,
  CREATE_SYSTEM_EXAMPLES,
  DELETED_SYSTEM_EXAMPLE,
  SYSTEM_EXAMPLE,
  SYSTEM_LIST_EXAMPLES,
  UPDATE_SYSTEM_EXAMPLES,
} from '../model/system.examples.js';
import {
  CreatedSystemResponseDto,
  SystemResponseDto,
  toCreatedSystemResponse,
  toSystemResponse,
} from './system.response.dto.js';
import { UpdateSystemRequestDto } from './update-system.request.dto.js';
import { SystemPathGuard } from './system-path.guard.js';
import { SystemsService } from './systems.service.js';

const COMMITTED = { 409: 'The application version is committed and can no longer be changed.' };

/** Systems of an application version (docs/contract.md, sections 2.1, 2.3 and 2.4; update and delete are extensions). */
@ApiTags('Systems')
@RequirePermission(Permission.IntegrationManagement)
@Controller('appmanager/api/resource/app/:appId/app-version/:versionId/rt/system')
export class SystemsController {
  constructor(private readonly systems: SystemsService) {}

  @Patch('integration/api/systems')
  @HttpCode(HttpStatus.CREATED)
  @Audited(AuditAction.SystemCreate)
  @ApiOperation({
    operationId: 'createSystem',
    summary: 'Create an MCP system',
    description:
      'Registers an MCP server as a system of an application version. The server is not called: test the connection to fill ' +
      '`tools`. The client secret is stored encrypted and never returned. `message` of a 400 for the characters of `resourceName` ' +
      'is `Name can only contain letters, numbers and the following special characters [] () . _ -`; `details` of a 400 names ' +
      'every field that breaks a rule. 409 when the name is taken or the version is committed.',
  })
  @ApiBody({ type: CreateSystemRequestDto, examples: CREATE_SYSTEM_EXAMPLES })
  @ApiCreatedResponse({
    type: CreatedSystemResponseDto,
    examples: CREATED_SYSTEM_EXAMPLES,
    description: 'The new system; `tools` is empty until a connection test succeeds.',
  })
  @ApiErrors(400, 403, 409)
  async create(
    @CurrentPrincipal() principal: Principal,
    @Param() params: AppVersionParams,
    @Body() body: CreateSystemRequestDto,
  ): Promise<CreatedSystemResponseDto> {
    return toCreatedSystemResponse(await this.systems.create(principal, versionOf(params), body));
  }

  @Get('ri/:systemResourceId/integration/api/systems/getById')
  @ApiOperation({
    operationId: 'getSystem',
    summary: 'Get an MCP system with its tools',
    description:
      'All that is known of the system but its secret. Tools that the server no longer offers are not listed.',
  })
  @ApiOkResponse({
    type: SystemResponseDto,
    example: SYSTEM_EXAMPLE,
    description: 'The system and its tools.',
  })
  @ApiErrors(400, 403, 404)
  async getById(@Param() params: SystemParams): Promise<SystemResponseDto> {
    return toSystemResponse(await this.systems.details(keyOf(params)));
  }

  @Get('include-dep-res/integration/api/systems/all/info')
  @ApiOperation({
    operationId: 'listSystems',
    summary: 'List the systems of an application version',
    description:
      'Systems of all types. Filter on `type` to pick MCP servers. An unknown version has no systems.',
  })
  @ApiOkResponse({
    type: SystemListResponseDto,
    examples: SYSTEM_LIST_EXAMPLES,
    description: 'The systems, sorted by version and resource name.',
  })
  @ApiErrors(400, 403)
  async list(
    @Param() params: AppVersionParams,
    @Query() query: ListSystemsQuery,
  ): Promise<SystemListResponseDto> {
    return toSystemList(await this.systems.list(versionOf(params), toListOptions(query)));
  }

  @Patch('ri/:systemResourceId/integration/api/systems')
  @UseGuards(SystemPathGuard)
  @Audited(AuditAction.SystemUpdate)
  @ApiOperation({
    operationId: 'updateSystem',
    summary: 'Change an MCP system or its secret',
    description:
      'Extension of the contract. A field that is left out keeps its value, the client secret too. Changing `baseUrl` or ' +
      '`identityProviderUrl` needs the secret again. The resource name cannot be changed: other versions and workflows refer to it.',
  })
  @ApiBody({ type: UpdateSystemRequestDto, examples: UPDATE_SYSTEM_EXAMPLES })
  @ApiOkResponse({
    type: SystemResponseDto,
    example: SYSTEM_EXAMPLE,
    description: 'The system as it is now.',
  })
  @ApiErrors(400, 403, 404, COMMITTED)
  async update(
    @CurrentPrincipal() principal: Principal,
    @Param() params: SystemParams,
    @Body() body: UpdateSystemRequestDto,
  ): Promise<SystemResponseDto> {
    return toSystemResponse(await this.systems.update(principal, keyOf(params), body));
  }

  @Delete('ri/:systemResourceId/integration/api/systems')
  @Audited(AuditAction.SystemDelete)
  @ApiOperation({
    operationId: 'deleteSystem',
    summary: 'Delete an MCP system',
    description:
      'Extension of the contract. Removes the system, its secret and its tools; its audit events stay.',
  })
  @ApiOkResponse({
    type: DeletedSystemResponseDto,
    example: DELETED_SYSTEM_EXAMPLE,
    description: 'The system is gone.',
  })
  @ApiErrors(400, 403, 404, COMMITTED)
  async remove(
    @CurrentPrincipal() principal: Principal,
    @Param() params: SystemParams,
  ): Promise<DeletedSystemResponseDto> {
    return toDeletedSystemResponse(await this.systems.remove(principal, keyOf(params)));
  }
}
