import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '#engine/json';
import { safeInteger } from '../../store/tables/column-values.js';
import type { JobLane } from '../model/job-queue.types.js';

/** Work that is still to be done. A row is deleted by the transaction that stores the effect of the work. */
@Entity('runtime_jobs')
@Index('ix_runtime_jobs_claim', ['lane', 'availableAt', 'id'])
@Index('ix_runtime_jobs_due', ['lane', 'dueAt'])
@Index('ix_runtime_jobs_lease', ['lease'])
@Index('ix_runtime_jobs_token', ['instanceId', 'tokenId'])
@Index('ix_runtime_jobs_family', ['familyId'])
@Index('uq_runtime_jobs_dedupe', ['dedupeKey'], { unique: true })
export class RuntimeJobEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'int' }) shard: number;
  /** First in the order of claims, so that a backlog of long jobs is no obstacle on the way to short ones. */
  @Column({ type: 'varchar', length: 8 }) lane: JobLane;
  @Column({ type: 'varchar', length: 32 }) kind: string;
  /** When it was to be done, whatever became of earlier attempts. */
  @Column({ type: 'datetime', name: 'due_at', precision: 3 }) dueAt: Date;
  /** When it may be claimed; while it is held, when the lease ends. */
  @Column({ type: 'datetime', name: 'available_at', precision: 3 }) availableAt: Date;
  /** How often it was begun. */
  @Column({ type: 'int' }) attempts: number;
  /** How often a run of it failed. */
  @Column({ type: 'int' }) failures: number;
  /** How often our own database failed during a run. The other attempts ended with their process, or lost their lease. */
  @Column({ type: 'int' }) interruptions: number;
  /** Of the last claim; may have ended. */
  @Column({ type: 'varchar', length: 36, nullable: true }) lease: string | null;
  @Column({ type: 'bigint', name: 'instance_id', nullable: true, transformer: safeInteger }) instanceId:
    number | null;
  @Column({ type: 'bigint', name: 'token_id', nullable: true, transformer: safeInteger }) tokenId:
    number | null;
  /** What the owner belongs to: open jobs are counted by it. */
  @Column({ type: 'bigint', name: 'family_id', nullable: true, transformer: safeInteger }) familyId:
    number | null;
  @Column({ type: 'varchar', name: 'dedupe_key', length: 128, nullable: true }) dedupeKey: string | null;
  @Column({ type: 'json' }) payload: JsonObject;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
}
