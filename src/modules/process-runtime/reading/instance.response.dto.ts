import { Shows } from '../../../common/answer-fields.decorators.js';
import type { JsonObject } from '../../../common/json.js';
import {
  INCIDENT_SOURCES,
  INCIDENT_TYPES,
  type IncidentSource,
  type IncidentType,
  type InstanceStatus,
} from '../engine/state/engine.types.js';
import { HistoryEventDto } from './instance-history.dto.js';
import { InstanceNodeDto } from './instance-node.dto.js';
import { InstanceSummaryDto } from './instance-summary.dto.js';
import { InstanceTokenDto } from './instance-token.dto.js';
import { ShowsInstanceState } from '../model/start.response.dto.js';

/** A process that an instance started. */
export class InstanceChildDto {
  @Shows.uuid('Names the instance in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b11')
  uuid: string;

  @ShowsInstanceState('Where it stands.', 'FINISHED')
  state: InstanceStatus;

  @Shows.value('Name of the process.', 'credit_check')
  processDefinitionName: string;

  @Shows.number(
    'Which of the calls of one visit of a node started it, from 0: the place in the collection.',
    0,
  )
  index: number;
}

/** Why an instance stopped. */
export class InstanceIncidentDto extends InstanceNodeDto {
  @Shows.uuid('Id of the incident, as in the log.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30')
  uuid: string;

  @Shows.enum('IncidentSource', [...INCIDENT_SOURCES], 'What failed.', 'NODE')
  source: IncidentSource;

  @Shows.enum('IncidentType', [...INCIDENT_TYPES], 'Kind of failure.', 'GATEWAY_EVALUATION')
  type: IncidentType;

  @Shows.value('What went wrong, for a person.', 'No outgoing flow can be taken.')
  message: string;

  @Shows.uuidOrNull(
    'Token that it stopped, for a retry; null when it is about the whole instance.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  )
  tokenUuid: string | null;

  @Shows.textOrNull('Action that failed; null for none.', null)
  actionSvcUuid: string | null;

  @Shows.uuidOrNull('Workflow run that failed; null when none did.', null)
  workflowRunId: string | null;

  @Shows.uuidOrNull('Called process whose end stopped it; null when it is about something else.', null)
  childProcessInstanceUuid: string | null;

  @Shows.textOrNull('Request that it stopped; leads to the log.', '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11')
  requestId: string | null;

  @Shows.moment('When it stopped.', '2026-01-31T10:20:30.123Z')
  timestamp: string;
}

/** That a person corrected process data. */
export class DataCorrectionDto {
  @Shows.texts('Names of the members that changed.', ['client'])
  members: string[];

  @Shows.value('User name of who corrected them.', 'jane.doe')
  by: string;

  @Shows.moment('When.', '2026-01-31T10:20:30.123Z')
  at: string;
}

/** A process instance with everything that belongs to it. */
export class InstanceResponseDto extends InstanceSummaryDto {
  @Shows.list(
    () => InstanceTokenDto,
    'Active ones first, then those whose branches run; of those that have ended the newest.',
  )
  tokens: InstanceTokenDto[];

  @Shows.object('Process data.', { client: { name: 'Ada Example' } })
  data: JsonObject;

  @Shows.list(
    () => DataCorrectionDto,
    'Corrections of process data by people, newest first: the last 20. The history has the values before and after.',
  )
  corrections: DataCorrectionDto[];

  @Shows.list(() => InstanceIncidentDto, 'Open incidents.')
  incidents: InstanceIncidentDto[];

  @Shows.listIfAsked(
    () => InstanceChildDto,
    'Processes that it started, the newest; all of them with `parentProcessInstanceUuid` of the list. Left out where `include` leaves it out.',
  )
  children?: InstanceChildDto[];

  @Shows.listIfAsked(
    () => HistoryEventDto,
    'The newest events of its audit trail, newest first. Left out where `include` leaves it out.',
  )
  history?: HistoryEventDto[];

  @Shows.numberIfAsked(
    'Give it as `before` of the history to read on; null when these are all. Left out with `history`.',
    null,
  )
  historyNext?: number | null;
}
