import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Permission } from '../../platform/auth/permission.js';
import { RequirePermission } from '../../platform/auth/access.decorators.js';
import { BuildProcessParams, definitionOf } from '../../delivery/builds/model/build.params.dto.js';
import { ProcessStatisticsApi } from './process-statistics.api.js';
import { ProcessStatisticsDto, ProcessStatisticsQueryDto } from './process-statistics.dto.js';
import { ProcessStatisticsService } from './process-statistics.service.js';

/** Shows statistics of a process (extension of the contract). */
@ApiTags('Processes')
@RequirePermission(Permission.ProcessRead)
@Controller('rtm/api/runtime/app/:appId/build/:buildId/process-name')
export class ProcessStatisticsController {
  constructor(private readonly statistics: ProcessStatisticsService) {}

  @Get(':processDefinitionName/statistics')
  @ProcessStatisticsApi.getProcessStatistics
  async read(
    @Param() params: BuildProcessParams,
    @Query() query: ProcessStatisticsQueryDto,
  ): Promise<ProcessStatisticsDto> {
    return this.statistics.read(definitionOf(params), query);
  }
}
