import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../../common/auth/access.decorators.js';
import type { Principal } from '../../../common/user/principal.js';
import { BuildParams } from '../../builds/model/build.params.dto.js';
import { ProcessesQueryDto, ProcessPageDto } from './startable-process.dto.js';
import { StartableProcessesApi } from './startable-processes.api.js';
import { StartableProcessesService } from './startable-processes.service.js';

/** Tells how the processes of a build are started (docs/contract.md, section 4.1a). */
@ApiTags('Processes')
@ApiBearerAuth('bearer')
@Controller('rtm/api/runtime/app/:appId/build/:buildId/processes')
export class StartableProcessesController {
  constructor(private readonly processes: StartableProcessesService) {}

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
