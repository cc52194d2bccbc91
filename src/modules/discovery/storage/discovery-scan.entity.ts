import { Column, Entity, PrimaryColumn } from 'typeorm';
import { safeInteger, storedText } from '../../../database/column-values.js';

/** A completed scan. */
@Entity('discovery_scans')
export class DiscoveryScanEntity {
  /** Number of the scan. Scans that failed have one too, so there may be gaps. */
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'datetime', name: 'started_at', precision: 3 }) startedAt: Date;
  @Column({ type: 'datetime', name: 'finished_at', precision: 3 }) finishedAt: Date;
  /** User name of the caller who came first. */
  @Column({ type: 'varchar', name: 'requested_by', length: 255 }) requestedBy: string;
  @Column({ type: 'int', name: 'duration_ms' }) durationMs: number;
  @Column({ type: 'int', name: 'total_services' }) totalServices: number;
  @Column({ type: 'int', name: 'healthy_services' }) healthyServices: number;
  @Column({ type: 'int', name: 'new_services' }) newServices: number;
  @Column({ type: 'int', name: 'configuration_changes' }) configurationChanges: number;
  @Column({ type: 'int' }) issues: number;
  /** JSON of the answer. */
  @Column({ type: 'json', transformer: storedText }) result: string;
}
