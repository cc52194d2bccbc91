import { NEXT_PAGE, Shows } from '../../../common/answer-fields.decorators.js';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import type { UserReference } from '../../../common/user/user-reference.js';
import type {
  InstanceStatus,
  IncidentSource,
  IncidentType,
  TokenStatus,
} from '../engine/state/engine.types.js';
import {
  ShowsInstanceState,
  InstanceMetadataDto,
  TokenDto,
  ShowsTokenState,
} from '../model/start.response.dto.js';
import type { JsonObject } from '../../../common/json.js';
import { BODY_SCHEMA_EXAMPLE } from './instance.examples.js';
import { HistoryEventDto, InstanceNodeDto } from './instance-history.dto.js';
import { ShowsIncidentSource, ShowsIncidentType } from '../model/incident-inbox.dto.js';

const TIME = '2026-01-31T10:20:30.123Z';

/** A process instance without its data. */
export class InstanceSummaryDto {
  @Shows.uuid('Names the instance in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10')
  uuid: string;

  @ShowsInstanceState('CREATED: it could not start, an incident tells why.', 'STARTED')
  state: InstanceStatus;

  @Shows.value('Name of the process.', 'loan_onboarding')
  processDefinitionName: string;

  @Shows.value('Process definition; the same in every build.', 'c5cada5c-7901-5807-a7d4-06e549c30dd1')
  processDefinitionSvcUuid: string;

  @Shows.value('Build that the instance runs on to its end.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01')
  buildId: string;

  @Shows.value('Status of the build when the instance started.', 'COMMITTED')
  buildStatusAtStart: string;

  @Shows.value('Application that the process belongs to.', 'sample')
  applicationId: string;

  @Shows.textOrNull('Application of the process that called it; null when none did.', null)
  parentApplicationId: string | null;

  @Shows.value('Application at the top of the calls.', 'sample')
  rootApplicationId: string;

  @Shows.uuidOrNull('Instance that called it; null when none did.', null)
  parentProcessInstanceUuid: string | null;

  @Shows.textOrNull(
    'What the header `svc-platform` said at the start; null when no caller started it.',
    'web',
  )
  platform: string | null;

  @Shows.partOrNull(() => UserReferenceDto, 'Who started it; null when a timer or a message did.')
  startedBy: UserReference | null;

  @Shows.moment('When it started.', TIME)
  startedAt: string;

  @Shows.moment('When it last changed.', TIME)
  dateUpdated: string;

  @Shows.momentOrNull('When it ended; null before.', null)
  endedAt: string | null;

  @Shows.momentOrNull('When it expires unless it has ended before; null for never.', null)
  expiresAt: string | null;

  @Shows.number('How many incidents are open.', 0)
  openIncidents: number;

  @Shows.part(() => InstanceMetadataDto, 'Number and UUID of the instance.')
  instanceMetadata: InstanceMetadataDto;
}

export class InstancePageDto {
  @Shows.list(() => InstanceSummaryDto, 'Newest first.')
  instances: InstanceSummaryDto[];

  @Shows.textOrNull(NEXT_PAGE, null)
  next: string | null;
}

/** A UI action that the caller can execute now. */
export class OpenUiActionDto {
  @Shows.value(
    'Names the UI action in the path of `executeUiAction`.',
    '7c012ba2-d101-55f2-b084-149d62e373ce',
  )
  svcUuid: string;

  @Shows.value('Name of the UI action.', 'submit_application')
  name: string;

  @Shows.value('Whether it takes the token back to an earlier node.', false)
  back: boolean;

  @Shows.objectOrNull('JSON Schema (2020-12) of the body; null for any object.', BODY_SCHEMA_EXAMPLE)
  bodySchema: JsonObject | null;
}

export class InstanceTokenDto extends TokenDto {
  @Shows.textOrNull('Id of the element in the BPMN file where it stands.', 'complete_application')
  bpmnElementId: string | null;

  @Shows.uuidOrNull('Token that was split or waits at the subprocess it runs in; null for none.', null)
  parentTokenUuid: string | null;

  @Shows.textOrNull('Lane of the node; null outside of lanes.', 'Clerk')
  lane: string | null;

  @Shows.list(
    () => OpenUiActionDto,
    'What the caller can execute on it now: of its own node, then what leads back. Empty unless it is ACTIVE; actions in lanes ' +
      'whose permissions the caller lacks are left out.',
  )
  uiActions: OpenUiActionDto[];
}

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

  @ShowsIncidentSource('What failed.', 'NODE')
  source: IncidentSource;

  @ShowsIncidentType('Kind of failure.', 'GATEWAY_EVALUATION')
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

/** Where a token stands in the diagram. */
export class PositionDto {
  @Shows.number('Node that it stands on.', 1002)
  nodeId: number;

  @Shows.textOrNull('Id of the element in the BPMN file.', 'complete_application')
  bpmnElementId: string | null;

  @Shows.uuid('The token.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20')
  tokenUuid: string;

  @ShowsTokenState('ON_HOLD: its branches are running.', 'ACTIVE')
  state: TokenStatus;
}

export class InstanceDiagramDto {
  @Shows.value('The BPMN 2.0 file that the process comes from, unchanged.')
  bpmn: string;

  @Shows.list(() => PositionDto, 'Where its tokens stand that have not ended.')
  positions: PositionDto[];
}
