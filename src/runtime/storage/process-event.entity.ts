import { Column, Entity, PrimaryColumn } from 'typeorm';
import { safeInteger, storedJson } from '../../store/tables/column-values.js';

/**
 * Part of the audit trail of an instance: consecutive events of one step, stored under the number of the last one. Numbers have no
 * gaps. Rows are append-only.
 */
@Entity('process_events')
export class ProcessEventEntity {
  @PrimaryColumn({ type: 'bigint', name: 'instance_id', transformer: safeInteger }) instanceId: number;
  @PrimaryColumn({ type: 'int' }) seq: number;
  @Column({ type: 'int' }) shard: number;
  /** User name; null for background work. */
  @Column({ type: 'varchar', length: 255, nullable: true }) actor: string | null;
  @Column({ type: 'varchar', name: 'request_id', length: 64, nullable: true }) requestId: string | null;
  @Column({ type: 'datetime', precision: 3 }) at: Date;
  /** Result of `packEvents`. */
  @Column({ type: 'json', transformer: storedJson }) events: unknown[];
}

/** Encrypted part of the values before and after a correction of process data. Rows are append-only. */
@Entity('process_corrections')
export class ProcessCorrectionEntity {
  /** Uuid of the instance, number of the event and number of the part, with leading zeros. */
  @PrimaryColumn({ type: 'varchar', length: 64 }) id: string;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'text' }) sealed: string;
}
