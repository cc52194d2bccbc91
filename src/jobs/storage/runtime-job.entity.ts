import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '#engine/json';
import { safeInteger } from '../../store/tables/column-values.js';
import type { JobLane } from '../model/job-queue.types.js';

/** Open background job. The transaction that stores its effect deletes the row. */
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
  /** First column of the claim index, so that a backlog of long jobs does not slow down claims of short ones. */
  @Column({ type: 'varchar', length: 8 }) lane: JobLane;
  @Column({ type: 'varchar', length: 32 }) kind: string;
  /** When the job was first due; does not change with attempts. */
  @Column({ type: 'datetime', name: 'due_at', precision: 3 }) dueAt: Date;
  /** When the job can be claimed; for a held job, the end of its lease. */
  @Column({ type: 'datetime', name: 'available_at', precision: 3 }) availableAt: Date;
  /** Number of claims. */
  @Column({ type: 'int' }) attempts: number;
  /** Number of failed runs. */
  @Column({ type: 'int' }) failures: number;
  /** Number of runs interrupted by the service's own database. The remaining attempts crashed or lost their lease. */
  @Column({ type: 'int' }) interruptions: number;
  /** Lease of the last claim; may have expired. */
  @Column({ type: 'varchar', length: 36, nullable: true }) lease: string | null;
  @Column({ type: 'bigint', name: 'instance_id', nullable: true, transformer: safeInteger }) instanceId:
    number | null;
  @Column({ type: 'bigint', name: 'token_id', nullable: true, transformer: safeInteger }) tokenId:
    number | null;
  /** Process family of the owner, by which open jobs are counted. */
  @Column({ type: 'bigint', name: 'family_id', nullable: true, transformer: safeInteger }) familyId:
    number | null;
  @Column({ type: 'varchar', name: 'dedupe_key', length: 128, nullable: true }) dedupeKey: string | null;
  @Column({ type: 'json' }) payload: JsonObject;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
}
