import { ApiPropertyOptional } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import { ShowsInstanceState } from '../model/start.response.dto.js';

/** Where an instance stands after an operation. */
export class InstanceOperationDto {
  @Shows.uuid('The instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10')
  uuid: string;

  @ShowsInstanceState('Its state now.', 'ONHOLD')
  state: InstanceStatus;
}

/** An incident that could not be retried. */
export class IncidentNotRetriedDto {
  @Shows.uuid('The incident, which stays open.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40')
  uuid: string;

  @Shows.value('Why.', 'The process stopped with an incident: The collection orders is not a list.')
  message: string;
}

/** What a retry did. */
export class InstanceRetryDto extends InstanceOperationDto {
  @Shows.texts(
    'Incidents that it closed; when the work fails again in the background, a new one is raised.',
    ['01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30'],
  )
  retriedIncidents: string[];

  @ApiPropertyOptional({
    type: [IncidentNotRetriedDto],
    description: 'Of several incidents those that could not be retried; absent when all were.',
  })
  notRetried?: IncidentNotRetriedDto[];
}
