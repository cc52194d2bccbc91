import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../../../store/tables/column-values.js';

/** Used amount of a quota in one window, including the reserves of replicas. */
@Entity('quota_uses')
@Index('ix_quota_uses_end', ['endsAt'])
export class QuotaUseEntity {
  /** Kind, scope, application or caller, and start of the window. */
  @PrimaryColumn({ type: 'varchar', length: 128 }) id: string;
  @Column({ type: 'bigint', transformer: safeInteger }) used: number;
  @Column({ type: 'datetime', name: 'ends_at', precision: 3 }) endsAt: Date;
}
