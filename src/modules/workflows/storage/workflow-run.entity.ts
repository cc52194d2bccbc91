import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger, storedText } from '../../../database/column-values.js';
import type { WorkflowRunError, WorkflowRunOrigin, WorkflowRunState } from '../model/workflow.types.js';

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
  /** JSON of WorkflowNodeRecord[]; null until the run has ended. */
  @Column({ type: 'json', nullable: true, transformer: storedText }) nodes: string | null;
  /** JSON; null unless the run has finished. */
  @Column({ type: 'json', nullable: true, transformer: storedText }) output: string | null;
}
