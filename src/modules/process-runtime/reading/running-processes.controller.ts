import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../../common/auth/access.decorators.js';
import type { Principal } from '../../../common/user/principal.js';
import { ProcessInstancesService } from './process-instances.service.js';
import { RunningProcessesApi } from './running-processes.api.js';
import { RunningProcessesDto } from './running-processes.dto.js';

/** Counts what runs, over all instances (extension of the contract). */
@ApiTags('Process instances')
@RequirePermission(Permission.ProcessRead)
@Controller('rtm/api/runtime/running-process')
export class RunningProcessesController {
  constructor(private readonly instances: ProcessInstancesService) {}

  @Get()
  @RunningProcessesApi.countRunningProcesses
  async count(@CurrentPrincipal() principal: Principal): Promise<RunningProcessesDto> {
    return this.instances.running(principal);
  }
}
