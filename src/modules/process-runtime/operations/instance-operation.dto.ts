import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import type { IncidentNotRetried, OperationView, RetryView } from '../model/instance-operations.types.js';
import { INSTANCE_STATES } from '../model/start.response.dto.js';

/** Where an instance stands after an operation. */
export class InstanceOperationDto implements OperationView {
  @ApiProperty({
    format: 'uuid',
    description: 'The instance.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
  })
  uuid: string;

  @ApiProperty({
    enum: INSTANCE_STATES,
    enumName: 'ProcessInstanceState',
    description: 'Its state now.',
    example: 'ONHOLD',
  })
  state: InstanceStatus;
}

/** An incident that could not be retried. */
export class IncidentNotRetriedDto implements IncidentNotRetried {
  @ApiProperty({
    format: 'uuid',
    description: 'The incident, which stays open.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
  })
  uuid: string;

  @ApiProperty({
    description: 'Why.',
    example: 'The process stopped with an incident: The collection orders is not a list.',
  })
  message: string;
}

/** What a retry did. */
export class InstanceRetryDto extends InstanceOperationDto implements RetryView {
  @ApiProperty({
    type: [String],
    description:
      'Incidents that it closed; when the work fails again in the background, a new one is raised.',
    example: ['01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30'],
  })
  retriedIncidents: string[];

  @ApiPropertyOptional({
    type: [IncidentNotRetriedDto],
    description: 'Of several incidents those that could not be retried; absent when all were.',
  })
  notRetried?: IncidentNotRetriedDto[];
}
