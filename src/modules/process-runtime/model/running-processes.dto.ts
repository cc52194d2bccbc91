import { Shows } from '../../../common/answer-fields.decorators.js';

/** How many instances of a process run. */
export class RunningProcessDto {
  @Shows.value('Application that the process belongs to.', 'sample')
  applicationId: string;

  @Shows.value('Name of the process.', 'loan_onboarding')
  processDefinitionName: string;

  @Shows.number('How many instances are in the state STARTED.', 12)
  running: number;

  @Shows.moment('When the oldest of them started.', '2026-01-24T10:20:30.123Z')
  oldestStartedAt: string;

  @Shows.moment('When the newest of them started.', '2026-01-31T10:20:30.123Z')
  newestStartedAt: string;
}

export class RunningProcessesDto {
  @Shows.list(() => RunningProcessDto, 'Most first, at most 200.')
  processes: RunningProcessDto[];

  @Shows.value('Whether these are all; otherwise those with the most.', true)
  complete: boolean;
}
