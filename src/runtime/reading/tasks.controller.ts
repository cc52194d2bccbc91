import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, RequirePermission } from '../../platform/auth/access.decorators.js';
import type { Principal } from '../../platform/user/principal.js';
import { TasksApi } from './tasks.api.js';
import { TaskPageDto, TasksQueryDto } from './tasks.dto.js';
import { TasksService } from './tasks.service.js';

/** Lists tasks that wait for a caller (extension of the contract). */
@ApiTags('Processes')
@RequirePermission('PROCESS_UI_ACTION_PERMISSION')
@Controller('rtm/api/runtime/task')
export class TasksController {
  constructor(private readonly tasks: TasksService) {}

  @Get()
  @TasksApi.listTasks
  async list(@CurrentPrincipal() principal: Principal, @Query() query: TasksQueryDto): Promise<TaskPageDto> {
    return this.tasks.page(principal, query);
  }
}
