import { ApiProperty } from '@nestjs/swagger';
import {
  NO_PROCESS,
  WorkflowRunOrigin,
  WorkflowRunState,
  type ListedRun,
  type WorkflowRunPage,
} from '../model/workflow.types.js';
import { WorkflowRunErrorDto } from '../model/workflow-run-error.dto.js';

/** A workflow run. */
export class WorkflowRunDto {
  @ApiProperty({
    format: 'uuid',
    description: 'Id of the run.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
  })
  id: string;

  @ApiProperty({ description: 'Name of the workflow.', example: 'credit_score' })
  workflow: string;

  @ApiProperty({
    description: 'Build that the process instance runs in.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
  })
  buildId: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Application in which the workflow was looked up: that of the build or of a library; null for whichever has it.',
    example: null,
  })
  appId: string | null;

  @ApiProperty({
    enum: WorkflowRunState,
    enumName: 'WorkflowRunState',
    description:
      'Where it stands. A run that was interrupted is `FAILED` until its job begins it again; one that its process no longer waits for is `CANCELLED`.',
  })
  state: WorkflowRunState;

  @ApiProperty({
    enum: WorkflowRunOrigin,
    enumName: 'WorkflowRunOrigin',
    description: 'What started it; subworkflows have the origin of the run that started them.',
  })
  origin: WorkflowRunOrigin;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Process instance that it belongs to; null for a test run.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b50',
  })
  processInstanceUuid: string | null;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Run that started it as a subworkflow; null if none did.',
    example: null,
  })
  parentRunId: string | null;

  @ApiProperty({
    format: 'date-time',
    description: 'When it began for the first time.',
    example: '2026-01-31T10:20:30.123Z',
  })
  startedAt: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it ended; null while it runs.',
    example: '2026-01-31T10:20:30.456Z',
  })
  finishedAt: string | null;

  @ApiProperty({
    type: () => WorkflowRunErrorDto,
    nullable: true,
    description: 'Why it failed; null if not.',
  })
  error: WorkflowRunErrorDto | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Code of the BPMN error that it has thrown: a node of type END with an error code was reached. Null for a run that threw none.',
    example: null,
  })
  errorCode: string | null;
}

/** A page of workflow runs. */
export class WorkflowRunPageDto {
  @ApiProperty({ type: () => [WorkflowRunDto], description: 'Newest first.' })
  runs: WorkflowRunDto[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Give it as `before` to read on; null on the last page.',
  })
  next: string | null;
}

export function toWorkflowRunPage({ runs, next }: WorkflowRunPage): WorkflowRunPageDto {
  return { runs: runs.map(toWorkflowRun), next };
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
