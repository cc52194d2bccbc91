import { Column, Entity, PrimaryColumn } from 'typeorm';
import { safeInteger, storedText } from '../../../database/column-values.js';

/** Whose turn it is to scan, and what the last completed scan saw. One row for all replicas. */
@Entity('discovery_state')
export class DiscoveryStateEntity {
  @PrimaryColumn({ type: 'varchar', length: 16 }) name: string;
  /** Number of the scan that began last; scans are counted from 1. */
  @Column({ type: 'bigint', transformer: safeInteger }) begun: number;
  /** Who is scanning, until `heldUntil` at the latest; null for nobody. */
  @Column({ type: 'varchar', length: 36, nullable: true }) holder: string | null;
  @Column({ type: 'datetime', name: 'held_until', precision: 3 }) heldUntil: Date;
  /** JSON of the Snapshot of the last completed scan; null before the first. */
  @Column({ type: 'json', nullable: true, transformer: storedText }) snapshot: string | null;
}
