import { Controller, Get, Header, Param, Query, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { BPMN_EXAMPLE } from '../../builds/model/build.examples.js';
import {
  DIAGRAM_EXAMPLE,
  HISTORY_PAGE_EXAMPLE,
  INSTANCE_EXAMPLE,
  INSTANCE_PAGE_EXAMPLE,
} from './instance.examples.js';
import { InstanceDiagramDto } from './instance-diagram.dto.js';
import { HistoryPageDto } from './instance-history.dto.js';
import { InstancePageDto } from './instance-summary.dto.js';
import { HistoryQueryDto, InstanceParams, InstancesQueryDto } from './instance.params.dto.js';
import { InstanceResponseDto } from './instance.response.dto.js';
import { InstanceDiagramsService } from './instance-diagrams.service.js';
import { InstanceReaderGuard } from '../access/instance-reader.guard.js';
import { ProcessInstancesService } from './process-instances.service.js';

const XML = 'application/xml';
const DENIED = { 403: 'Insufficient permissions to read process data' };
const NOT_FOUND = { 404: 'Process instance not found.' };

/** Shows process instances (extension of the contract). */
@ApiTags('Process instances')
@ApiBearerAuth('bearer')
@Controller('rtm/api/runtime/process-instance')
export class ProcessInstancesController {
  constructor(
    private readonly instances: ProcessInstancesService,
    private readonly diagrams: InstanceDiagramsService,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listProcessInstances',
    summary: 'List process instances',
    description:
      'Extension of the contract. Newest first, without their data. Follow `next` until it is null. Callers without the permission ' +
      '`process-read` see the instances that they started themselves.',
  })
  @ApiOkResponse({
    type: InstancePageDto,
    example: INSTANCE_PAGE_EXAMPLE,
    description: 'A page of instances.',
  })
  @ApiErrors(400)
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: InstancesQueryDto,
  ): Promise<InstancePageDto> {
    return this.instances.page(principal, query);
  }

  @Get(':uuid')
  @UseGuards(InstanceReaderGuard)
  @ApiOperation({
    operationId: 'getProcessInstance',
    summary: 'Get a process instance',
    description:
      'Extension of the contract. State, tokens with what can be executed on them now, process data, open incidents, called ' +
      'processes and the newest events. For callers with the permission `process-read`, and for the caller who started it.',
  })
  @ApiOkResponse({ type: InstanceResponseDto, example: INSTANCE_EXAMPLE, description: 'The instance.' })
  @ApiErrors(400, DENIED, NOT_FOUND)
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
  ): Promise<InstanceResponseDto> {
    return this.instances.get(principal, uuid);
  }

  @Get(':uuid/history')
  @UseGuards(InstanceReaderGuard)
  @ApiOperation({
    operationId: 'getProcessInstanceHistory',
    summary: 'Read the audit trail of a process instance',
    description:
      'Extension of the contract. Every step of the instance, what caused it and who. Events are numbered without gaps and never ' +
      'changed. Readers are the same as those of the instance.',
  })
  @ApiOkResponse({ type: HistoryPageDto, example: HISTORY_PAGE_EXAMPLE, description: 'A part of the trail.' })
  @ApiErrors(400, DENIED, NOT_FOUND)
  async history(@Param() { uuid }: InstanceParams, @Query() query: HistoryQueryDto): Promise<HistoryPageDto> {
    return this.instances.history(uuid, query);
  }

  @Get(':uuid/bpmn')
  @UseGuards(InstanceReaderGuard)
  @Header('Content-Type', XML)
  @ApiOperation({
    operationId: 'getProcessInstanceBpmn',
    summary: 'Get the process of an instance as BPMN',
    description: 'Extension of the contract. The BPMN 2.0 file that the process comes from, unchanged.',
  })
  @ApiOkResponse({
    content: { [XML]: { schema: { type: 'string' }, example: BPMN_EXAMPLE } },
    description: 'The file as it was delivered.',
  })
  @ApiErrors(400, DENIED, NOT_FOUND)
  async bpmn(@Param() { uuid }: InstanceParams): Promise<string> {
    return this.diagrams.bpmn(uuid);
  }

  @Get(':uuid/diagram')
  @UseGuards(InstanceReaderGuard)
  @ApiOperation({
    operationId: 'getProcessInstanceDiagram',
    summary: 'Get the process of an instance as BPMN, with where its tokens stand',
    description: 'Extension of the contract. The same file with the elements that a viewer marks.',
  })
  @ApiOkResponse({ type: InstanceDiagramDto, example: DIAGRAM_EXAMPLE, description: 'File and positions.' })
  @ApiErrors(400, DENIED, NOT_FOUND)
  async diagram(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
  ): Promise<InstanceDiagramDto> {
    return this.diagrams.diagram(principal, uuid);
  }
}
