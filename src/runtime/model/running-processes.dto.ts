import { Answer, Shows } from '../../platform/openapi/answer-fields.decorators.js';

/** How many instances of a process run. */
export class RunningProcessDto extends Answer({
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  processDefinitionName: Shows.value('Name of the process.', 'loan_onboarding'),
  running: Shows.number('How many instances are in the state STARTED.', 12),
  oldestStartedAt: Shows.moment('When the oldest of them started.', '2026-01-24T10:20:30.123Z'),
  newestStartedAt: Shows.moment('When the newest of them started.', '2026-01-31T10:20:30.123Z'),
}) {}

export class RunningProcessesDto extends Answer({
  processes: Shows.list(() => RunningProcessDto, 'Most first, at most 200.'),
  complete: Shows.flag('Whether these are all; otherwise those with the most.', true),
}) {}
