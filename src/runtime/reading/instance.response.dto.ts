import { Answer, AnswerWith, Shows, NEXT_PAGE } from '../../platform/openapi/answer-fields.decorators.js';
import { UserReferenceDto } from '../../platform/user/user-reference.dto.js';
import {
  ShowsInstanceState,
  InstanceMetadataDto,
  TokenDto,
  ShowsTokenState,
} from '../model/start.response.dto.js';
import { BODY_SCHEMA_EXAMPLE } from '../starts/start.examples.js';
import { HistoryEventDto, InstanceNodeDto } from './instance-history.dto.js';
import { ShowsIncidentSource, ShowsIncidentType } from '../model/incident-inbox.dto.js';

const TIME = '2026-01-31T10:20:30.123Z';

/** A process instance without its data. */
export class InstanceSummaryDto extends Answer({
  uuid: Shows.uuid('Names the instance in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
  state: ShowsInstanceState('CREATED: it could not start, an incident tells why.', 'STARTED'),
  processDefinitionName: Shows.value('Name of the process.', 'loan_onboarding'),
  processDefinitionSvcUuid: Shows.value(
    'Process definition; the same in every build.',
    'c5cada5c-7901-5807-a7d4-06e549c30dd1',
  ),
  buildId: Shows.value('Build that the instance runs on to its end.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01'),
  buildStatusAtStart: Shows.value('Status of the build when the instance started.', 'COMMITTED'),
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  parentApplicationId: Shows.textOrNull(
    'Application of the process that called it; null when none did.',
    null,
  ),
  rootApplicationId: Shows.value('Application at the top of the calls.', 'sample'),
  parentProcessInstanceUuid: Shows.uuidOrNull('Instance that called it; null when none did.', null),
  platform: Shows.textOrNull(
    'What the header `svc-platform` said at the start; null when no caller started it.',
    'web',
  ),
  startedBy: Shows.partOrNull(() => UserReferenceDto, 'Who started it; null when a timer or a message did.'),
  startedAt: Shows.moment('When it started.', TIME),
  dateUpdated: Shows.moment('When it last changed.', TIME),
  endedAt: Shows.momentOrNull('When it ended; null before.', null),
  expiresAt: Shows.momentOrNull('When it expires unless it has ended before; null for never.', null),
  openIncidents: Shows.number('How many incidents are open.', 0),
  instanceMetadata: Shows.part(() => InstanceMetadataDto, 'Number and UUID of the instance.'),
}) {}

export class InstancePageDto extends Answer({
  instances: Shows.list(() => InstanceSummaryDto, 'Newest first.'),
  next: Shows.textOrNull(NEXT_PAGE, null),
}) {}

/** A UI action that the caller can execute now. */
export class OpenUiActionDto extends Answer({
  svcUuid: Shows.value(
    'Names the UI action in the path of `executeUiAction`.',
    '7c012ba2-d101-55f2-b084-149d62e373ce',
  ),
  name: Shows.value('Name of the UI action.', 'submit_application'),
  back: Shows.flag('Whether it takes the token back to an earlier node.', false),
  bodySchema: Shows.objectOrNull(
    'JSON Schema (2020-12) of the body; null for any object.',
    BODY_SCHEMA_EXAMPLE,
  ),
}) {}

export class InstanceTokenDto extends AnswerWith(TokenDto, {
  bpmnElementId: Shows.textOrNull(
    'Id of the element in the BPMN file where it stands.',
    'complete_application',
  ),
  parentTokenUuid: Shows.uuidOrNull(
    'Token that was split or waits at the subprocess it runs in; null for none.',
    null,
  ),
  lane: Shows.textOrNull('Lane of the node; null outside of lanes.', 'Clerk'),
  uiActions: Shows.list(
    () => OpenUiActionDto,
    'What the caller can execute on it now: of its own node, then what leads back. Empty unless it is ACTIVE; actions in lanes ' +
      'whose permissions the caller lacks are left out.',
  ),
}) {}

/** A process that an instance started. */
export class InstanceChildDto extends Answer({
  uuid: Shows.uuid('Names the instance in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b11'),
  state: ShowsInstanceState('Where it stands.', 'FINISHED'),
  processDefinitionName: Shows.value('Name of the process.', 'credit_check'),
  index: Shows.number(
    'Which of the calls of one visit of a node started it, from 0: the place in the collection.',
    0,
  ),
}) {}

/** Why an instance stopped. */
export class InstanceIncidentDto extends AnswerWith(InstanceNodeDto, {
  uuid: Shows.uuid('Id of the incident, as in the log.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30'),
  source: ShowsIncidentSource('What failed.', 'NODE'),
  type: ShowsIncidentType('Kind of failure.', 'GATEWAY_EVALUATION'),
  message: Shows.value('What went wrong, for a person.', 'No outgoing flow can be taken.'),
  tokenUuid: Shows.uuidOrNull(
    'Token that it stopped, for a retry; null when it is about the whole instance.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  ),
  actionSvcUuid: Shows.textOrNull('Action that failed; null for none.', null),
  workflowRunId: Shows.uuidOrNull('Workflow run that failed; null when none did.', null),
  childProcessInstanceUuid: Shows.uuidOrNull(
    'Called process whose end stopped it; null when it is about something else.',
    null,
  ),
  requestId: Shows.textOrNull(
    'Request that it stopped; leads to the log.',
    '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
  ),
  timestamp: Shows.moment('When it stopped.', '2026-01-31T10:20:30.123Z'),
}) {}

/** That a person corrected process data. */
export class DataCorrectionDto extends Answer({
  members: Shows.texts('Names of the members that changed.', ['client']),
  by: Shows.value('User name of who corrected them.', 'jane.doe'),
  at: Shows.moment('When.', '2026-01-31T10:20:30.123Z'),
}) {}

/** A process instance with everything that belongs to it. */
export class InstanceResponseDto extends AnswerWith(InstanceSummaryDto, {
  tokens: Shows.list(
    () => InstanceTokenDto,
    'Active ones first, then those whose branches run; of those that have ended the newest.',
  ),
  data: Shows.object('Process data.', { client: { name: 'Ada Example' } }),
  corrections: Shows.list(
    () => DataCorrectionDto,
    'Corrections of process data by people, newest first: the last 20. The history has the values before and after.',
  ),
  incidents: Shows.list(() => InstanceIncidentDto, 'Open incidents.'),
  children: Shows.listIfAsked(
    () => InstanceChildDto,
    'Processes that it started, the newest; all of them with `parentProcessInstanceUuid` of the list. Left out where `include` leaves it out.',
  ),
  history: Shows.listIfAsked(
    () => HistoryEventDto,
    'The newest events of its audit trail, newest first. Left out where `include` leaves it out.',
  ),
  historyNext: Shows.numberIfAsked(
    'Give it as `before` of the history to read on; null when these are all. Left out with `history`.',
    null,
  ),
}) {}

/** Where a token stands in the diagram. */
export class PositionDto extends Answer({
  nodeId: Shows.number('Node that it stands on.', 1002),
  bpmnElementId: Shows.textOrNull('Id of the element in the BPMN file.', 'complete_application'),
  tokenUuid: Shows.uuid('The token.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20'),
  state: ShowsTokenState('ON_HOLD: its branches are running.', 'ACTIVE'),
}) {}

export class InstanceDiagramDto extends Answer({
  bpmn: Shows.value('The BPMN 2.0 file that the process comes from, unchanged.'),
  positions: Shows.list(() => PositionDto, 'Where its tokens stand that have not ended.'),
}) {}
