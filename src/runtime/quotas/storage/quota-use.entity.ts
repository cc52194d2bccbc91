import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../../../store/tables/column-values.js';

/** How much of a quota is used in one window of time, with what replicas hold in advance. */
@Entity('quota_uses')
@Index('ix_quota_uses_end', ['endsAt'])
export class QuotaUseEntity {
  /** Kind, scope, application or caller, and begin of the window. */
  @PrimaryColumn({ type: 'varchar', length: 128 }) id: string;
  @Column({ type: 'bigint', transformer: safeInteger }) used: number;
  @Column({ type: 'datetime', name: 'ends_at', precision: 3 }) endsAt: Date;
}
