import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, RequirePermission } from '../../platform/auth/access.decorators.js';
import { PreferPathErrors } from '../../platform/http/checked-path.js';
import type { Principal } from '../../platform/user/principal.js';
import { InstanceDiagramDto, InstancePageDto, InstanceResponseDto } from './instance.response.dto.js';
import { HistoryPageDto } from './instance-history.dto.js';
import {
  HistoryQueryDto,
  InstanceParams,
  InstanceQueryDto,
  InstancesQueryDto,
  toInstanceLists,
} from '../model/instance.params.dto.js';
import { ForReaders } from '../access/instance-access.service.js';
import { ProcessInstancesService } from './process-instances.service.js';
import { ProcessInstancesApi, RunningProcessesApi } from './process-instances.api.js';
import { Permission } from '../../platform/auth/permission.js';
import { RunningProcessesDto } from '../model/running-processes.dto.js';

/** Shows process instances (extension of the contract). */
@ApiTags('Process instances')
@ApiBearerAuth('bearer')
@Controller('rtm/api/runtime/process-instance')
export class ProcessInstancesController {
  constructor(private readonly instances: ProcessInstancesService) {}

  @Get()
  @ProcessInstancesApi.listProcessInstances
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: InstancesQueryDto,
  ): Promise<InstancePageDto> {
    return this.instances.page(principal, query);
  }

  @Get(':uuid')
  @ForReaders(PreferPathErrors)
  @ProcessInstancesApi.getProcessInstance
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
    @Query() { include }: InstanceQueryDto,
  ): Promise<InstanceResponseDto> {
    return this.instances.get(principal, uuid, toInstanceLists(include));
  }

  @Get(':uuid/history')
  @ForReaders()
  @ProcessInstancesApi.getProcessInstanceHistory
  async history(@Param() { uuid }: InstanceParams, @Query() query: HistoryQueryDto): Promise<HistoryPageDto> {
    return this.instances.history(uuid, query);
  }

  @Get(':uuid/bpmn')
  @ForReaders()
  @Header('Content-Type', 'application/xml')
  @ProcessInstancesApi.getProcessInstanceBpmn
  async bpmn(@Param() { uuid }: InstanceParams): Promise<string> {
    return this.instances.bpmn(uuid);
  }

  @Get(':uuid/diagram')
  @ForReaders()
  @ProcessInstancesApi.getProcessInstanceDiagram
  async diagram(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
  ): Promise<InstanceDiagramDto> {
    return this.instances.diagram(principal, uuid);
  }
}

/** Counts running instances by process (extension of the contract). */
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
