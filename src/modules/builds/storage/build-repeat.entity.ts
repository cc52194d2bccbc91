import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The build that a call with an `Idempotency-Key` has made; the primary key decides which of two equal calls is the first. */
@Entity('build_repeats')
@Index('ix_build_repeats_created', ['createdAt'])
export class BuildRepeatEntity {
  @PrimaryColumn({ type: 'varchar', name: 'key_hash', length: 64 }) keyHash: string;
  @Column({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
}
