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

/** Process instance without its data. */
export class InstanceSummaryDto extends Answer({
  uuid: Shows.uuid('Id of the instance in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
  state: ShowsInstanceState('CREATED: it could not start; an incident gives the reason.', 'STARTED'),
  processDefinitionName: Shows.value('Name of the process.', 'loan_onboarding'),
  processDefinitionSvcUuid: Shows.value(
    'Id of the process definition; the same in every build.',
    'c5cada5c-7901-5807-a7d4-06e549c30dd1',
  ),
  buildId: Shows.value('Build that the instance uses until it ends.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01'),
  buildStatusAtStart: Shows.value('Status of the build when the instance started.', 'COMMITTED'),
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  parentApplicationId: Shows.textOrNull(
    'Application of the calling process; null if the instance was not called.',
    null,
  ),
  rootApplicationId: Shows.value('Application of the first caller in the call chain.', 'sample'),
  parentProcessInstanceUuid: Shows.uuidOrNull('Calling instance; null if the instance was not called.', null),
  platform: Shows.textOrNull(
    'Header `svc-platform` of the start request; null if no caller started it.',
    'web',
  ),
  startedBy: Shows.partOrNull(() => UserReferenceDto, 'User who started it; null for timers and messages.'),
  startedAt: Shows.moment('When it started.', TIME),
  dateUpdated: Shows.moment('When it last changed.', TIME),
  endedAt: Shows.momentOrNull('When it ended; null until then.', null),
  expiresAt: Shows.momentOrNull('When it expires unless it ends before; null if it never expires.', null),
  openIncidents: Shows.number('Number of open incidents.', 0),
  instanceMetadata: Shows.part(() => InstanceMetadataDto, 'Number and UUID of the instance.'),
}) {}

export class InstancePageDto extends Answer({
  instances: Shows.list(() => InstanceSummaryDto, 'Newest first.'),
  next: Shows.textOrNull(NEXT_PAGE, null),
}) {}

/** UI action that the caller can execute now. */
export class OpenUiActionDto extends Answer({
  svcUuid: Shows.value(
    'Id of the UI action in the path of `executeUiAction`.',
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
  bpmnElementId: Shows.textOrNull('Id of the current element in the BPMN file.', 'complete_application'),
  parentTokenUuid: Shows.uuidOrNull(
    'Token that was split into this one, or waits at the subprocess this one runs in; null if none.',
    null,
  ),
  lane: Shows.textOrNull('Lane of the node; null outside of lanes.', 'Clerk'),
  uiActions: Shows.list(
    () => OpenUiActionDto,
    'UI actions that the caller can execute now: those of its node first, then those that go back. Empty unless it is ACTIVE; actions in lanes ' +
      'whose permissions the caller lacks are left out.',
  ),
}) {}

/** Process that an instance called. */
export class InstanceChildDto extends Answer({
  uuid: Shows.uuid('Id of the instance in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b11'),
  state: ShowsInstanceState('State of the called instance.', 'FINISHED'),
  processDefinitionName: Shows.value('Name of the process.', 'credit_check'),
  index: Shows.number(
    'Index of the call within one visit of the node, from 0: the position in the collection.',
    0,
  ),
}) {}

/** Why an instance stopped. */
export class InstanceIncidentDto extends AnswerWith(InstanceNodeDto, {
  uuid: Shows.uuid('Id of the incident, as in the log.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30'),
  source: ShowsIncidentSource('What failed.', 'NODE'),
  type: ShowsIncidentType('Kind of failure.', 'GATEWAY_EVALUATION'),
  message: Shows.value('Human-readable reason.', 'No outgoing flow can be taken.'),
  tokenUuid: Shows.uuidOrNull(
    'Stopped token, for `retryToken`; null when the incident affects the whole instance.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  ),
  actionSvcUuid: Shows.textOrNull('Failed action; null if no action failed.', null),
  workflowRunId: Shows.uuidOrNull('Failed workflow run; null if no run failed.', null),
  childProcessInstanceUuid: Shows.uuidOrNull(
    'Called process whose end caused the incident; null for other causes.',
    null,
  ),
  requestId: Shows.textOrNull(
    'Id of the failed request, as in the log.',
    '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
  ),
  timestamp: Shows.moment('When it stopped.', '2026-01-31T10:20:30.123Z'),
}) {}

/** Correction of process data by a person. */
export class DataCorrectionDto extends Answer({
  members: Shows.texts('Names of the members that changed.', ['client']),
  by: Shows.value('User name of the person who made the correction.', 'jane.doe'),
  at: Shows.moment('Time of the correction.', '2026-01-31T10:20:30.123Z'),
}) {}

/** Process instance with all its details. */
export class InstanceResponseDto extends AnswerWith(InstanceSummaryDto, {
  tokens: Shows.list(
    () => InstanceTokenDto,
    'Active tokens first, then those whose branches are running, then the newest ended ones.',
  ),
  data: Shows.object('Process data.', { client: { name: 'Ada Example' } }),
  corrections: Shows.list(
    () => DataCorrectionDto,
    'The last 20 corrections of process data by people, newest first. The history has the values before and after.',
  ),
  incidents: Shows.list(() => InstanceIncidentDto, 'Open incidents.'),
  children: Shows.optionalList(
    () => InstanceChildDto,
    'Newest called processes; use `parentProcessInstanceUuid` of the list to get all. Absent if `include` excludes it.',
  ),
  history: Shows.optionalList(
    () => HistoryEventDto,
    'Newest events of the audit trail, newest first. Absent if `include` excludes it.',
  ),
  historyNext: Shows.optionalNumberOrNull(
    'Value of `before` for the next page of the history; null if there are no more events. Absent without `history`.',
    null,
  ),
}) {}

/** Position of a token in the diagram. */
export class PositionDto extends Answer({
  nodeId: Shows.number('Current node.', 1002),
  bpmnElementId: Shows.textOrNull('Id of the element in the BPMN file.', 'complete_application'),
  tokenUuid: Shows.uuid('The token.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20'),
  state: ShowsTokenState('ON_HOLD: its branches are running.', 'ACTIVE'),
}) {}

export class InstanceDiagramDto extends Answer({
  bpmn: Shows.value('The BPMN 2.0 file that the process comes from, unchanged.'),
  positions: Shows.list(() => PositionDto, 'Positions of all tokens that have not ended.'),
}) {}
