import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { storedText } from '../../store/tables/column-values.js';

/** The answer kept for an Idempotency-Key, byte by byte; the unique key decides which of two equal calls is the first. */
@Entity('process_repeats')
@Index('ix_process_repeats_created', ['createdAt'])
export class ProcessRepeatEntity {
  @PrimaryColumn({ type: 'varchar', name: 'key_hash', length: 64 }) keyHash: string;
  /** Of a start it follows from the key, of a UI action it is that of the instance. */
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'varchar', name: 'body_hash', length: 64 }) bodyHash: string;
  @Column({ type: 'json', transformer: storedText }) response: string;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
}
