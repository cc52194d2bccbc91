import { Answer, Shows } from '../../platform/openapi/answer-fields.decorators.js';

/** Number of running instances of a process. */
export class RunningProcessDto extends Answer({
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  processDefinitionName: Shows.value('Name of the process.', 'loan_onboarding'),
  running: Shows.number('Number of instances in state STARTED.', 12),
  oldestStartedAt: Shows.moment('Start time of the oldest one.', '2026-01-24T10:20:30.123Z'),
  newestStartedAt: Shows.moment('Start time of the newest one.', '2026-01-31T10:20:30.123Z'),
}) {}

export class RunningProcessesDto extends Answer({
  processes: Shows.list(() => RunningProcessDto, 'Highest counts first, at most 200.'),
  complete: Shows.flag('Whether the list is complete; if not, it holds the highest counts.', true),
}) {}
