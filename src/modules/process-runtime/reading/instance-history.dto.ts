import { ApiProperty } from '@nestjs/swagger';
import type { JsonObject } from '../../../common/json.js';
import type { ProcessEventKind } from '../model/process-runtime.types.js';
import type { HistoryEventView, HistoryPage } from '../model/process-instances.types.js';
import { InstanceNodeDto } from './instance-node.dto.js';

const EVENT_KINDS: ProcessEventKind[] = [
  'INSTANCE_STATE',
  'TOKEN_CREATED',
  'TOKEN_STATE',
  'NODE_ENTERED',
  'NODE_LEFT',
  'ACTION_EXECUTED',
  'BACK',
  'TIMER_FIRED',
  'MESSAGE_RECEIVED',
  'MESSAGE_PUBLISHED',
  'CHILD_STARTED',
  'CHILD_ENDED',
  'ERROR_THROWN',
  'RETRY',
  'DATA_APPENDED',
  'INCIDENT_RAISED',
  'INCIDENT_CLOSED',
];

/** One line of the audit trail of an instance. */
export class HistoryEventDto extends InstanceNodeDto implements HistoryEventView {
  @ApiProperty({ type: 'integer', description: 'Number of the event: from 1 and without gaps.', example: 3 })
  seq: number;

  @ApiProperty({
    enum: EVENT_KINDS,
    enumName: 'ProcessEventKind',
    description: 'What happened.',
    example: 'NODE_ENTERED',
  })
  kind: ProcessEventKind;

  @ApiProperty({ format: 'date-time', description: 'When it happened.', example: '2026-01-31T10:20:30.123Z' })
  timestamp: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'User name of who caused it; null for background work.',
    example: 'jane.doe',
  })
  actor: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Request that caused it; leads to the log.',
    example: '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
  })
  requestId: string | null;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Token that it happened to; null when it is about the whole instance.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  })
  tokenUuid: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'What else the kind tells of; never process data.',
    example: { visit: 2 },
  })
  data: JsonObject | null;
}

/** A part of an audit trail. */
export class HistoryPageDto implements HistoryPage {
  @ApiProperty({
    type: () => [HistoryEventDto],
    description: 'Newest first; oldest first when `after` was given.',
  })
  events: HistoryEventDto[];

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Give it as `before`, or as `after` where that was given, to read on; null when there are no more.',
    example: null,
  })
  next: number | null;
}
