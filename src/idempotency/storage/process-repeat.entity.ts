import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { storedText } from '../../store/tables/column-values.js';

/** Stored response for an Idempotency-Key. The primary key decides which of two concurrent requests comes first. */
@Entity('process_repeats')
@Index('ix_process_repeats_created', ['createdAt'])
export class ProcessRepeatEntity {
  @PrimaryColumn({ type: 'varchar', name: 'key_hash', length: 64 }) keyHash: string;
  /** Derived from the key for starts; the shard of the instance for UI actions. */
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'varchar', name: 'body_hash', length: 64 }) bodyHash: string;
  @Column({ type: 'json', transformer: storedText }) response: string;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
}
