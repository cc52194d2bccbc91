import type { Page } from '../../../common/page.js';
import { NEXT_PAGE, Shows } from '../../../common/answer-fields.decorators.js';
import { NO_PROCESS, WorkflowRunOrigin, WorkflowRunState, type ListedRun } from '../model/workflow.types.js';
import { WorkflowRunErrorDto } from '../model/workflow-run-error.dto.js';

/** A workflow run. */
export class WorkflowRunDto {
  @Shows.uuid('Id of the run.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40')
  id: string;

  @Shows.value('Name of the workflow.', 'credit_score')
  workflow: string;

  @Shows.value('Build that the process instance runs in.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01')
  buildId: string;

  @Shows.textOrNull(
    'Application in which the workflow was looked up: that of the build or of a library; null for whichever has it.',
    null,
  )
  appId: string | null;

  @Shows.enum(
    'WorkflowRunState',
    WorkflowRunState,
    'Where it stands. A run that was interrupted is `FAILED` until its job begins it again; one that its process no longer waits for is `CANCELLED`.',
  )
  state: WorkflowRunState;

  @Shows.enum(
    'WorkflowRunOrigin',
    WorkflowRunOrigin,
    'What started it; subworkflows have the origin of the run that started them.',
  )
  origin: WorkflowRunOrigin;

  @Shows.uuidOrNull(
    'Process instance that it belongs to; null for a test run.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b50',
  )
  processInstanceUuid: string | null;

  @Shows.uuidOrNull('Run that started it as a subworkflow; null if none did.', null)
  parentRunId: string | null;

  @Shows.moment('When it began for the first time.', '2026-01-31T10:20:30.123Z')
  startedAt: string;

  @Shows.momentOrNull('When it ended; null while it runs.', '2026-01-31T10:20:30.456Z')
  finishedAt: string | null;

  @Shows.partOrNull(() => WorkflowRunErrorDto, 'Why it failed; null if not.')
  error: WorkflowRunErrorDto | null;

  @Shows.textOrNull(
    'Code of the BPMN error that it has thrown: a node of type END with an error code was reached. Null for a run that threw none.',
    null,
  )
  errorCode: string | null;
}

/** A page of workflow runs. */
export class WorkflowRunPageDto {
  @Shows.list(() => WorkflowRunDto, 'Newest first.')
  runs: WorkflowRunDto[];

  @Shows.textOrNull(NEXT_PAGE)
  next: string | null;
}

export function toWorkflowRunPage({ items, next }: Page<ListedRun>): WorkflowRunPageDto {
  return { runs: items.map(toWorkflowRun), next };
}

export function toWorkflowRun(run: ListedRun): WorkflowRunDto {
  return {
    id: run.id,
    workflow: run.workflow,
    buildId: run.buildId,
    appId: run.appId,
    state: run.state,
    origin: run.origin,
    processInstanceUuid: run.processInstanceUuid === NO_PROCESS ? null : run.processInstanceUuid,
    parentRunId: run.parentRunId,
    startedAt: run.startedAt.toISOString(),
    finishedAt: run.finishedAt?.toISOString() ?? null,
    error: run.error,
    errorCode: run.errorCode,
  };
}
