import {
  Answer,
  Shows,
  shows,
  NEXT_PAGE,
  Fields,
  FieldsWith,
} from '../../platform/openapi/answer-fields.decorators.js';
import {
  IsPageLimit,
  IsQueryId,
  IsQueryProcessName,
  IsQueryName,
  IsQueryText,
  inPages,
  inRange,
} from '../../platform/validation/query.decorators.js';
import { WorkflowRunErrorDto } from '../calls/workflows/reading/workflow-run.dto.js';
import { INCIDENT_SOURCES, INCIDENT_TYPES, type IncidentSource, type IncidentType } from '#engine/tokens';
import { INCIDENT_STATES } from './process-runtime.types.js';
import { ShowsInstanceState } from './start.response.dto.js';

const MAX_LIMIT = 200;
const ELEMENT_MAX_LENGTH = 255;

/** A member that is the kind of an incident, or what failed. */
export const ShowsIncidentType = shows<IncidentType>({ enum: [...INCIDENT_TYPES], enumName: 'IncidentType' });
export const ShowsIncidentSource = shows<IncidentSource>({
  enum: [...INCIDENT_SOURCES],
  enumName: 'IncidentSource',
});

/** Which incidents are meant. Times are those at which they were raised first. */
export class IncidentFilterDto extends Fields({
  applicationId: IsQueryId('Only incidents in processes of this application.'),
  applicationVersionId: IsQueryId('Only incidents in processes of builds of this version.'),
  buildId: IsQueryId('Only incidents in processes of this build.'),
  processDefinitionName: IsQueryProcessName('Only incidents in processes of this name.'),
  bpmnElementId: IsQueryText(
    ELEMENT_MAX_LENGTH,
    'Only incidents at the element with this id in the BPMN file.',
  ),
  code: IsQueryName('IncidentType', INCIDENT_TYPES, 'Only this kind of failure.'),
  ...inRange('incidents that were raised first'),
}) {}

export class IncidentsQueryDto extends FieldsWith(IncidentFilterDto, {
  state: IsQueryName('IncidentState', INCIDENT_STATES, 'Only incidents in this state.'),
  ...inPages('Incidents', MAX_LIMIT),
}) {}

export class IncidentCountsQueryDto extends FieldsWith(IncidentFilterDto, {
  limit: IsPageLimit('Places', MAX_LIMIT),
}) {}

/** An incident with the instance that it stopped. */
export class ListedIncidentDto extends Answer({
  uuid: Shows.uuid('Id of the incident, as in the log.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30'),
  state: Shows.enum(
    'IncidentState',
    [...INCIDENT_STATES],
    'RESOLVED: the process went on or ended. RETRIED: an operator had it run again.',
    'OPEN',
  ),
  code: ShowsIncidentType(
    'Kind of failure: the `type` of the incident where an instance is read.',
    'WORKFLOW',
  ),
  source: ShowsIncidentSource('What failed.', 'ACTION'),
  message: Shows.value('What went wrong, for a person.', 'CONDITION_FAILED: No condition is true.'),
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  buildId: Shows.value('Build of the instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01'),
  processDefinitionName: Shows.value('Name of the process.', 'loan_onboarding'),
  processInstanceUuid: Shows.uuid('The instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
  processInstanceState: ShowsInstanceState('Where the instance stands now.', 'STARTED'),
  tokenUuid: Shows.uuidOrNull(
    'Token that it stopped, for a retry; null when it is about the whole instance.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  ),
  bpmnElementId: Shows.textOrNull(
    'Id of the element in the BPMN file; null for the process as a whole.',
    'complete_application',
  ),
  actionSvcUuid: Shows.textOrNull('Action that failed; null for none.', null),
  workflowRunId: Shows.uuidOrNull(
    'Workflow run that failed; null when none did.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
  ),
  workflowError: Shows.partOrNull(
    () => WorkflowRunErrorDto,
    'Why that run failed; null where it has not, or goes on by now.',
  ),
  requestId: Shows.textOrNull(
    'The request that led to it: the one that it stopped, or else the last one that moved the instance before; null when none is known.',
    '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
  ),
  raisedAt: Shows.moment(
    'When it was raised first: the order of the list, and what `from` and `to` ask for.',
    '2026-01-31T10:20:30.123Z',
  ),
  timestamp: Shows.moment('When the same work stopped last.', '2026-01-31T10:20:30.123Z'),
  closedAt: Shows.momentOrNull('When it was closed; null while it is open.', null),
}) {}

export class IncidentPageDto extends Answer({
  incidents: Shows.list(() => ListedIncidentDto, 'Newest first.'),
  next: Shows.textOrNull(NEXT_PAGE, null),
}) {}

/** How many incidents of one kind are open at one place. */
export class IncidentCountDto extends Answer({
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  processDefinitionName: Shows.value('Name of the process.', 'loan_onboarding'),
  bpmnElementId: Shows.textOrNull(
    'Id of the element in the BPMN file; null for the process as a whole.',
    'complete_application',
  ),
  code: ShowsIncidentType('Kind of failure.', 'WORKFLOW'),
  open: Shows.number('How many are open.', 12),
}) {}

export class IncidentCountsDto extends Answer({
  counts: Shows.list(() => IncidentCountDto, 'Most first.'),
  complete: Shows.flag('Whether these are all; otherwise those with the most.', true),
}) {}
