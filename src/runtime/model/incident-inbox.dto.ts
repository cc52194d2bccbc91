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

/** Response field with the type of an incident. */
export const ShowsIncidentType = shows<IncidentType>({ enum: [...INCIDENT_TYPES], enumName: 'IncidentType' });
/** Response field with the source of an incident. */
export const ShowsIncidentSource = shows<IncidentSource>({
  enum: [...INCIDENT_SOURCES],
  enumName: 'IncidentSource',
});

/** Filters of incident lists. Times are when incidents were first raised. */
export class IncidentFilterDto extends Fields({
  applicationId: IsQueryId('Only incidents in processes of this application.'),
  applicationVersionId: IsQueryId('Only incidents in builds of this application version.'),
  buildId: IsQueryId('Only incidents in this build.'),
  processDefinitionName: IsQueryProcessName('Only incidents in processes with this name.'),
  bpmnElementId: IsQueryText(
    ELEMENT_MAX_LENGTH,
    'Only incidents at the element with this id in the BPMN file.',
  ),
  code: IsQueryName('IncidentType', INCIDENT_TYPES, 'Only this kind of failure.'),
  ...inRange('incidents that were first raised'),
}) {}

export class IncidentsQueryDto extends FieldsWith(IncidentFilterDto, {
  state: IsQueryName('IncidentState', INCIDENT_STATES, 'Only incidents in this state.'),
  ...inPages('Incidents', MAX_LIMIT),
}) {}

export class IncidentCountsQueryDto extends FieldsWith(IncidentFilterDto, {
  limit: IsPageLimit('Places', MAX_LIMIT),
}) {}

/** Incident with the instance it stopped. */
export class ListedIncidentDto extends Answer({
  uuid: Shows.uuid('Id of the incident, as in the log.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30'),
  state: Shows.enum(
    'IncidentState',
    [...INCIDENT_STATES],
    'RESOLVED: the process continued or ended. RETRIED: an operator retried the work.',
    'OPEN',
  ),
  code: ShowsIncidentType('Kind of failure; the `type` of the incident in `getProcessInstance`.', 'WORKFLOW'),
  source: ShowsIncidentSource('What failed.', 'ACTION'),
  message: Shows.value('Human-readable reason.', 'CONDITION_FAILED: No condition is true.'),
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  buildId: Shows.value('Build of the instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01'),
  processDefinitionName: Shows.value('Name of the process.', 'loan_onboarding'),
  processInstanceUuid: Shows.uuid('The instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
  processInstanceState: ShowsInstanceState('Current state of the instance.', 'STARTED'),
  tokenUuid: Shows.uuidOrNull(
    'Stopped token, for `retryToken`; null when the incident affects the whole instance.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  ),
  bpmnElementId: Shows.textOrNull(
    'Id of the element in the BPMN file; null when the incident affects the whole process.',
    'complete_application',
  ),
  actionSvcUuid: Shows.textOrNull('Failed action; null if no action failed.', null),
  workflowRunId: Shows.uuidOrNull(
    'Failed workflow run; null if no run failed.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
  ),
  workflowError: Shows.partOrNull(
    () => WorkflowRunErrorDto,
    'Why the run failed; null if it did not fail or is running again.',
  ),
  requestId: Shows.textOrNull(
    'Request that caused it: the request that failed, or else the last one that moved the instance; null if unknown.',
    '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
  ),
  raisedAt: Shows.moment(
    'When it was first raised. The list is sorted by this time; `from` and `to` refer to it.',
    '2026-01-31T10:20:30.123Z',
  ),
  timestamp: Shows.moment('When the same work last failed.', '2026-01-31T10:20:30.123Z'),
  closedAt: Shows.momentOrNull('When it was closed; null while it is open.', null),
}) {}

export class IncidentPageDto extends Answer({
  incidents: Shows.list(() => ListedIncidentDto, 'Newest first.'),
  next: Shows.textOrNull(NEXT_PAGE, null),
}) {}

/** Number of open incidents of one type at one element. */
export class IncidentCountDto extends Answer({
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  processDefinitionName: Shows.value('Name of the process.', 'loan_onboarding'),
  bpmnElementId: Shows.textOrNull(
    'Id of the element in the BPMN file; null for incidents that affect the whole process.',
    'complete_application',
  ),
  code: ShowsIncidentType('Kind of failure.', 'WORKFLOW'),
  open: Shows.number('Number of open incidents.', 12),
}) {}

export class IncidentCountsDto extends Answer({
  counts: Shows.list(() => IncidentCountDto, 'Highest counts first.'),
  complete: Shows.flag('Whether the list is complete; if not, it holds the highest counts.', true),
}) {}
