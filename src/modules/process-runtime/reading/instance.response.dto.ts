import { ApiProperty } from '@nestjs/swagger';
import type { JsonObject } from '../../../common/json.js';
import type { IncidentSource, IncidentType, InstanceStatus } from '../engine/state/engine.types.js';
import type { ChildView, IncidentView, InstanceView } from '../model/process-instances.types.js';
import { HistoryEventDto } from './instance-history.dto.js';
import { InstanceNodeDto } from './instance-node.dto.js';
import { InstanceSummaryDto } from './instance-summary.dto.js';
import { InstanceTokenDto } from './instance-token.dto.js';
import { INSTANCE_STATES } from '../model/start.response.dto.js';

const INCIDENT_SOURCES: IncidentSource[] = ['ACTION', 'NODE', 'SUBPROCESS', 'PROCESS_DEFINITION'];
const INCIDENT_TYPES: IncidentType[] = [
  'CONDITION_EVALUATION',
  'GATEWAY_EVALUATION',
  'JOIN_NEVER_COMPLETED',
  'NODE',
  'ENGINE',
  'DEFINITION',
  'SUBPROCESS',
  'WORKFLOW',
];

/** A process that an instance started. */
export class InstanceChildDto implements ChildView {
  @ApiProperty({
    format: 'uuid',
    description: 'Names the instance in paths.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b11',
  })
  uuid: string;

  @ApiProperty({
    enum: INSTANCE_STATES,
    enumName: 'ProcessInstanceState',
    description: 'Where it stands.',
    example: 'FINISHED',
  })
  state: InstanceStatus;

  @ApiProperty({ description: 'Name of the process.', example: 'credit_check' })
  processDefinitionName: string;

  @ApiProperty({
    type: 'integer',
    description: 'Which of the calls of one visit of a node started it, from 0: the place in the collection.',
    example: 0,
  })
  index: number;
}

/** Why an instance stopped. */
export class InstanceIncidentDto extends InstanceNodeDto implements IncidentView {
  @ApiProperty({
    format: 'uuid',
    description: 'Id of the incident, as in the log.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30',
  })
  uuid: string;

  @ApiProperty({
    enum: INCIDENT_SOURCES,
    enumName: 'IncidentSource',
    description: 'What failed.',
    example: 'NODE',
  })
  source: IncidentSource;

  @ApiProperty({
    enum: INCIDENT_TYPES,
    enumName: 'IncidentType',
    description: 'Kind of failure.',
    example: 'GATEWAY_EVALUATION',
  })
  type: IncidentType;

  @ApiProperty({ description: 'What went wrong, for a person.', example: 'No outgoing flow can be taken.' })
  message: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Token that it stopped, for a retry; null when it is about the whole instance.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  })
  tokenUuid: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Action that failed; null for none.',
    example: null,
  })
  actionSvcUuid: string | null;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Called process whose end stopped it; null when it is about something else.',
    example: null,
  })
  childProcessInstanceUuid: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Request that it stopped; leads to the log.',
    example: '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
  })
  requestId: string | null;

  @ApiProperty({ format: 'date-time', description: 'When it stopped.', example: '2026-01-31T10:20:30.123Z' })
  timestamp: string;
}

/** A process instance with everything that belongs to it. */
export class InstanceResponseDto extends InstanceSummaryDto implements InstanceView {
  @ApiProperty({
    type: () => [InstanceTokenDto],
    description: 'Active ones first, then those whose branches run; of those that have ended the newest.',
  })
  tokens: InstanceTokenDto[];

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Process data.',
    example: { client: { name: 'Ada Example' } },
  })
  data: JsonObject;

  @ApiProperty({ type: () => [InstanceIncidentDto], description: 'Open incidents.' })
  incidents: InstanceIncidentDto[];

  @ApiProperty({
    type: () => [InstanceChildDto],
    description:
      'Processes that it started, the newest; all of them with `parentProcessInstanceUuid` of the list.',
  })
  children: InstanceChildDto[];

  @ApiProperty({
    type: () => [HistoryEventDto],
    description: 'The newest events of its audit trail, newest first.',
  })
  history: HistoryEventDto[];

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Give it as `before` of the history to read on; null when these are all.',
    example: null,
  })
  historyNext: number | null;
}
