import { Answer, Shows, NEXT_PAGE, Fields } from '../../platform/openapi/answer-fields.decorators.js';
import {
  IsQueryId,
  IsQueryProcessName,
  IsQueryUuid,
  inPages,
  inRange,
} from '../../platform/validation/query.decorators.js';
import { OpenUiActionDto } from './instance.response.dto.js';

const MAX_LIMIT = 200;

export class TasksQueryDto extends Fields({
  applicationId: IsQueryId('Only processes of this application.'),
  processDefinitionName: IsQueryProcessName('Only processes with this name.', 'loan_onboarding'),
  processInstanceUuid: IsQueryUuid('Only the tasks of this instance.'),
  ...inRange('tasks of instances that started'),
  ...inPages('Instances examined per page', MAX_LIMIT),
}) {}

/** Token that waits for the caller. */
export class TaskDto extends Answer({
  processInstanceUuid: Shows.uuid('The instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  processDefinitionName: Shows.value('Name of the process.', 'loan_onboarding'),
  startedAt: Shows.moment('When the instance started.', '2026-01-31T10:20:30.123Z'),
  tokenUuid: Shows.uuid('Id of the token in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20'),
  visit: Shows.number('Visit of the token. In quotes, the `If-Match` header of `executeUiAction`.', 2),
  nodeName: Shows.textOrNull('Name of the current node.', 'Complete application'),
  bpmnElementId: Shows.textOrNull('Id of the current element in the BPMN file.', 'complete_application'),
  lane: Shows.textOrNull('Lane of the node; null outside of lanes.', 'Clerk'),
  waitsSince: Shows.moment('When the token last changed.', '2026-01-31T10:20:30.123Z'),
  uiActions: Shows.list(
    () => OpenUiActionDto,
    'UI actions that the caller can execute now: those of its node first, then those that go back.',
  ),
}) {}

export class TaskPageDto extends Answer({
  tasks: Shows.list(() => TaskDto, 'Tasks of the newest instances first.'),
  next: Shows.textOrNull(NEXT_PAGE, null),
}) {}
