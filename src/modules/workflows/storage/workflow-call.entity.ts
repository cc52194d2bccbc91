import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { storedText } from '../../../database/column-values.js';
import type { CallKind, CallState, CallUsage } from '../model/call-journal.types.js';

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
