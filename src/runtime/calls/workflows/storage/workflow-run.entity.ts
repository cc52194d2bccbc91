import type { Page, PageQuery } from '../../../../platform/validation/page.js';
import type { TimeRange } from '../../../../store/tables/conditions.js';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger, storedText } from '../../../../store/tables/column-values.js';
import type { WorkflowRunError, WorkflowRunOrigin, WorkflowRunState } from '../model/workflow.types.js';
import type { CallKind, CallState, CallUsage } from '../model/call-journal.types.js';

/** One run of a workflow, kept for its readers. */
@Entity('workflow_runs')
@Index('uq_workflow_runs_key', ['runKey'], { unique: true })
@Index('ix_workflow_runs_state', ['state', 'id'])
@Index('ix_workflow_runs_process', ['processInstanceUuid', 'id'])
@Index('ix_workflow_runs_parent', ['parentRunId', 'id'])
export class WorkflowRunEntity {
  /** UUID version 7, so the order of ids is the order of starts. */
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  /** That of the instance or the job that waits for the run. */
  @Column({ type: 'int' }) shard: number;
  /** One run for each piece of work, see WorkflowRunRequest.runKey. */
  @Column({ type: 'varchar', name: 'run_key', length: 128 }) runKey: string;
  /** Grows with each beginning; a run that was begun again elsewhere stores nothing more here. */
  @Column({ type: 'int' }) attempt: number;
  @Column({ type: 'varchar', name: 'build_id', length: 64 }) buildId: string;
  /** As it was asked for: null for whichever application of the build has the workflow. */
  @Column({ type: 'varchar', name: 'app_id', length: 64, nullable: true }) appId: string | null;
  @Column({ type: 'varchar', length: 255 }) workflow: string;
  @Column({ type: 'varchar', length: 16 }) state: WorkflowRunState;
  @Column({ type: 'varchar', length: 16 }) origin: WorkflowRunOrigin;
  /** NO_PROCESS for a run that belongs to none. */
  @Column({ type: 'varchar', name: 'process_instance_uuid', length: 36 }) processInstanceUuid: string;
  /** Token that waits for the run, or for the one that started it. */
  @Column({ type: 'bigint', name: 'process_token_id', nullable: true, transformer: safeInteger })
  processTokenId: number | null;
  @Column({ type: 'varchar', name: 'parent_run_id', length: 36, nullable: true }) parentRunId: string | null;
  @Column({ type: 'datetime', name: 'started_at', precision: 3 }) startedAt: Date;
  @Column({ type: 'datetime', name: 'finished_at', precision: 3, nullable: true }) finishedAt: Date | null;
  @Column({ type: 'simple-json', nullable: true }) error: WorkflowRunError | null;
  /** Of the BPMN error that a finished run has thrown. */
  @Column({ type: 'varchar', name: 'error_code', length: 255, nullable: true }) errorCode: string | null;
  /** JSON of WorkflowNodeRunDto[]; null until the run has ended. */
  @Column({ type: 'json', nullable: true, transformer: storedText }) nodes: string | null;
  /** JSON; null unless the run has finished. */
  @Column({ type: 'json', nullable: true, transformer: storedText }) output: string | null;
}

/** One call of a run to the outside. The primary key decides that it is begun once. */
@Entity('workflow_calls')
@Index('ix_workflow_calls_order', ['runId', 'startedAt', 'callKey'])
@Index('ix_workflow_calls_started', ['kind', 'startedAt'])
export class WorkflowCallEntity {
  @PrimaryColumn({ type: 'varchar', name: 'run_id', length: 36 }) runId: string;
  /** Names the call within its run, see OutsideCall.key. */
  @PrimaryColumn({ type: 'varchar', name: 'call_key', length: 191 }) callKey: string;
  /** That of the run. */
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'varchar', length: 8 }) kind: CallKind;
  @Column({ type: 'varchar', length: 16 }) state: CallState;
  /** Attempt of the run that has begun it last; only this one may finish it. */
  @Column({ type: 'int' }) attempt: number;
  /** How often it was begun. */
  @Column({ type: 'int' }) tries: number;
  /** 1 when it may be made again although its outcome was lost. */
  @Column({ type: 'int' }) repeatable: number;
  @Column({ type: 'datetime', name: 'started_at', precision: 3 }) startedAt: Date;
  @Column({ type: 'datetime', name: 'finished_at', precision: 3, nullable: true }) finishedAt: Date | null;
  @Column({ type: 'varchar', length: 64, nullable: true }) outcome: string | null;
  @Column({ type: 'simple-json', nullable: true }) usage: CallUsage | null;
  /** JSON, or its beginning, see RunCall.request. */
  @Column({ type: 'json', transformer: storedText }) request: string;
  @Column({ type: 'int', name: 'request_bytes' }) requestBytes: number;
  /** JSON of CallResponse.result; null until the call is done. */
  @Column({ type: 'json', nullable: true, transformer: storedText }) response: string | null;
}

/** What a list shows of a run: without what its nodes did, which may be large. */
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

/** Which runs to list; those that a run has started, by `parentRunId`. */
export type WorkflowRunQuery = PageQuery &
  TimeRange &
  Partial<Pick<WorkflowRunEntity, 'state' | 'processInstanceUuid' | 'workflow'> & { parentRunId: string }>;

/** A run as a list shows it. */
export type ListedRun = Pick<WorkflowRunEntity, (typeof LISTED)[number]>;

/** A run with what its nodes did; both texts are JSON as `JSON.stringify` writes it. */
export type RunDetails = ListedRun & { nodes: string; output: string };

/** A page of the calls of a run; `next` is the key to read on from, null on the last page. */
export interface RunCallPage extends Page<WorkflowCallEntity> {
  /** Characters of a response that readers are shown. */
  readonly maxLength: number;
}
