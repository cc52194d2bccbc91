import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A part of the values that a person corrected, before and after, sealed. Rows are only ever added. */
@Entity('process_corrections')
export class ProcessCorrectionEntity {
  /** Uuid of the instance, number of the event in its audit trail, number of the part; in this order, with leading zeros. */
  @PrimaryColumn({ type: 'varchar', length: 64 }) id: string;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'text' }) sealed: string;
}
