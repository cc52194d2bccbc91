import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../../common/auth/access.decorators.js';
import type { Principal } from '../../../common/user/principal.js';
import { WorkflowRunsApi } from './workflow-runs.api.js';
import { WorkflowUsageDto, WorkflowUsageQueryDto } from './workflow-usage.dto.js';
import { WorkflowUsageService } from './workflow-usage.service.js';

/** Shows what the runs of all workflows have used up (extension of the contract). */
@ApiTags('Workflow runs')
@RequirePermission(Permission.ProcessRead)
@Controller('rtm/api/runtime/workflow-usage')
export class WorkflowUsageController {
  constructor(private readonly usage: WorkflowUsageService) {}

  @Get()
  @WorkflowRunsApi.getWorkflowUsage
  async read(
    @CurrentPrincipal() principal: Principal,
    @Query() query: WorkflowUsageQueryDto,
  ): Promise<WorkflowUsageDto> {
    return this.usage.read(principal, query);
  }
}
