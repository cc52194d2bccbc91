import { Column, Entity, PrimaryColumn } from 'typeorm';
import { safeInteger, storedJson } from '../../store/tables/column-values.js';

/**
 * Part of the audit trail of an instance: events of one step that follow each other, under the number of the last one. Numbers have no
 * gaps. Rows are only ever added.
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
  /** As `packEvents` returns them. */
  @Column({ type: 'json', transformer: storedJson }) events: unknown[];
}

/** A part of the values that a person corrected, before and after, sealed. Rows are only ever added. */
@Entity('process_corrections')
export class ProcessCorrectionEntity {
  /** Uuid of the instance, number of the event in its audit trail, number of the part; in this order, with leading zeros. */
  @PrimaryColumn({ type: 'varchar', length: 64 }) id: string;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'text' }) sealed: string;
}
