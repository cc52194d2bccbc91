import { Body, Controller, Param, Post, Res, Get, Query } from '@nestjs/common';
import { ApiTags, ApiBearerAuth } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal, ShowsPermission } from '../../platform/auth/access.decorators.js';
import type { Principal } from '../../platform/user/principal.js';
import { CheckPathBeforeBody } from '../../platform/http/checked-path.js';
import { withReplayHeader } from '../../platform/http/answer-headers.js';
import { RequestHeader } from '../../platform/http/request.decorators.js';
import {
  BuildProcessParams,
  definitionOf,
  BuildParams,
} from '../../delivery/builds/model/build.params.dto.js';
import { StartProcessResponseDto } from '../model/start.response.dto.js';
import { ProcessStartService } from './process-start.service.js';
import { ProcessStartApi, StartableProcessesApi } from './process-start.api.js';
import { ProcessesQueryDto, ProcessPageDto } from './startable-process.dto.js';

/** Starts processes (docs/contract.md, section 4.1). */
@ApiTags('Processes')
@ShowsPermission('PROCESS_START_PERMISSION')
@Controller('rtm/api/runtime/app/:appId/build/:buildId/process-name')
export class ProcessStartController {
  constructor(private readonly processes: ProcessStartService) {}

  @Post(':processDefinitionName/start')
  @CheckPathBeforeBody(
    ProcessStartService,
    BuildProcessParams,
    (processes, params, principal) => processes.requireStartable(principal, definitionOf(params)),
    {
      authorize: (processes, { appId }, principal) =>
        processes.requireStartPermission(principal, String(appId)),
    },
  )
  @ProcessStartApi.startProcess
  async start(
    @CurrentPrincipal() principal: Principal,
    @Param() params: BuildProcessParams,
    @Body() body: Record<string, unknown>,
    @RequestHeader('svc-platform') platform: string | undefined,
    @RequestHeader('Idempotency-Key') idempotencyKey: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StartProcessResponseDto> {
    const call = { body, platform, idempotencyKey };
    return withReplayHeader(response, await this.processes.start(principal, definitionOf(params), call));
  }
}

/** Lists how the processes of a build are started (docs/contract.md, section 4.1a). */
@ApiTags('Processes')
@ApiBearerAuth('bearer')
@Controller('rtm/api/runtime/app/:appId/build/:buildId/processes')
export class StartableProcessesController {
  constructor(private readonly processes: ProcessStartService) {}

  @Get()
  @StartableProcessesApi.listProcesses
  async list(
    @CurrentPrincipal() principal: Principal,
    @Param() { appId, buildId }: BuildParams,
    @Query() query: ProcessesQueryDto,
  ): Promise<ProcessPageDto> {
    return this.processes.page(principal, { appId, buildId }, query);
  }
}
