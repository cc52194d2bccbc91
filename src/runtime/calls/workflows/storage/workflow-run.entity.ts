import type { Page, PageQuery } from '../../../../platform/validation/page.js';
import type { TimeRange } from '../../../../store/tables/conditions.js';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger, storedText } from '../../../../store/tables/column-values.js';
import type { WorkflowRunError, WorkflowRunOrigin, WorkflowRunState } from '../model/workflow.types.js';
import type { CallKind, CallState, CallUsage } from '../model/call-journal.types.js';

/** Workflow run. */
@Entity('workflow_runs')
@Index('uq_workflow_runs_key', ['runKey'], { unique: true })
@Index('ix_workflow_runs_state', ['state', 'id'])
@Index('ix_workflow_runs_process', ['processInstanceUuid', 'id'])
@Index('ix_workflow_runs_parent', ['parentRunId', 'id'])
export class WorkflowRunEntity {
  /** UUID version 7, so ids sort by start time. */
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  /** Shard of the instance or job that waits for the run. */
  @Column({ type: 'int' }) shard: number;
  /** Idempotency key, see WorkflowRunRequest.runKey. */
  @Column({ type: 'varchar', name: 'run_key', length: 128 }) runKey: string;
  /** Incremented by each start; only the latest attempt may store anything. */
  @Column({ type: 'int' }) attempt: number;
  @Column({ type: 'varchar', name: 'build_id', length: 64 }) buildId: string;
  /** As requested; null to search all applications of the build. */
  @Column({ type: 'varchar', name: 'app_id', length: 64, nullable: true }) appId: string | null;
  @Column({ type: 'varchar', length: 255 }) workflow: string;
  @Column({ type: 'varchar', length: 16 }) state: WorkflowRunState;
  @Column({ type: 'varchar', length: 16 }) origin: WorkflowRunOrigin;
  /** NO_PROCESS for a run without a process. */
  @Column({ type: 'varchar', name: 'process_instance_uuid', length: 36 }) processInstanceUuid: string;
  /** Token that waits for the run or its parent run. */
  @Column({ type: 'bigint', name: 'process_token_id', nullable: true, transformer: safeInteger })
  processTokenId: number | null;
  @Column({ type: 'varchar', name: 'parent_run_id', length: 36, nullable: true }) parentRunId: string | null;
  @Column({ type: 'datetime', name: 'started_at', precision: 3 }) startedAt: Date;
  @Column({ type: 'datetime', name: 'finished_at', precision: 3, nullable: true }) finishedAt: Date | null;
  @Column({ type: 'simple-json', nullable: true }) error: WorkflowRunError | null;
  /** Code of the BPMN error thrown by a finished run. */
  @Column({ type: 'varchar', name: 'error_code', length: 255, nullable: true }) errorCode: string | null;
  /** JSON of WorkflowNodeRunDto[]; null until the run has ended. */
  @Column({ type: 'json', nullable: true, transformer: storedText }) nodes: string | null;
  /** JSON; null unless the run has finished. */
  @Column({ type: 'json', nullable: true, transformer: storedText }) output: string | null;
}

/** Outside call of a run. The primary key ensures that it is started only once. */
@Entity('workflow_calls')
@Index('ix_workflow_calls_order', ['runId', 'startedAt', 'callKey'])
@Index('ix_workflow_calls_started', ['kind', 'startedAt'])
export class WorkflowCallEntity {
  @PrimaryColumn({ type: 'varchar', name: 'run_id', length: 36 }) runId: string;
  /** Key within the run, see OutsideCall.key. */
  @PrimaryColumn({ type: 'varchar', name: 'call_key', length: 191 }) callKey: string;
  /** Shard of the run. */
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'varchar', length: 8 }) kind: CallKind;
  @Column({ type: 'varchar', length: 16 }) state: CallState;
  /** Attempt of the run that last started the call; only it may finish the call. */
  @Column({ type: 'int' }) attempt: number;
  /** Number of times it was started. */
  @Column({ type: 'int' }) tries: number;
  /** 1 if the call may be repeated after its outcome was lost. */
  @Column({ type: 'int' }) repeatable: number;
  @Column({ type: 'datetime', name: 'started_at', precision: 3 }) startedAt: Date;
  @Column({ type: 'datetime', name: 'finished_at', precision: 3, nullable: true }) finishedAt: Date | null;
  @Column({ type: 'varchar', length: 64, nullable: true }) outcome: string | null;
  @Column({ type: 'simple-json', nullable: true }) usage: CallUsage | null;
  /** JSON, possibly truncated, see OutsideCall.request. */
  @Column({ type: 'json', transformer: storedText }) request: string;
  @Column({ type: 'int', name: 'request_bytes' }) requestBytes: number;
  /** JSON of CallResponse.result; null until the call is done. */
  @Column({ type: 'json', nullable: true, transformer: storedText }) response: string | null;
}

/** Columns of a run in lists; node visits may be large and are left out. */
export const LISTED = [
  'id',
  'buildId',
  'appId',
  'workflow',
  'state',
  'origin',
  'processInstanceUuid',
  'parentRunId',
  'startedAt',
  'finishedAt',
  'error',
  'errorCode',
] as const satisfies (keyof WorkflowRunEntity)[];

/** Filters of a list of runs; `parentRunId` selects subworkflows of a run. */
export type WorkflowRunQuery = PageQuery &
  TimeRange &
  Partial<Pick<WorkflowRunEntity, 'state' | 'processInstanceUuid' | 'workflow'> & { parentRunId: string }>;

/** Run in a list. */
export type ListedRun = Pick<WorkflowRunEntity, (typeof LISTED)[number]>;

/** Run with node visits and output, both as JSON text. */
export type RunDetails = ListedRun & { nodes: string; output: string };

/** Page of calls of a run. `next` is the key for the next page; null on the last one. */
export interface RunCallPage extends Page<WorkflowCallEntity> {
  /** Maximum displayed characters of a response. */
  readonly maxLength: number;
}
