import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../../store/tables/column-values.js';
import { storedText } from '../../store/tables/column-values.js';
import type { ComponentMap, ComponentStatus } from '../model/component.types.js';
import type { ProbeFailure } from '../model/failures.js';
import type { ChangeEvent } from '../model/scan.types.js';

/** A completed scan. */
@Entity('discovery_scans')
export class DiscoveryScanEntity {
  /** Number of the scan. Failed scans have one too, so there may be gaps. */
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'datetime', name: 'started_at', precision: 3 }) startedAt: Date;
  @Column({ type: 'datetime', name: 'finished_at', precision: 3 }) finishedAt: Date;
  /** User name of the first caller. */
  @Column({ type: 'varchar', name: 'requested_by', length: 255 }) requestedBy: string;
  @Column({ type: 'int', name: 'duration_ms' }) durationMs: number;
  @Column({ type: 'int', name: 'total_services' }) totalServices: number;
  @Column({ type: 'int', name: 'healthy_services' }) healthyServices: number;
  @Column({ type: 'int', name: 'new_services' }) newServices: number;
  @Column({ type: 'int', name: 'configuration_changes' }) configurationChanges: number;
  @Column({ type: 'int' }) issues: number;
  /** JSON of the response. */
  @Column({ type: 'json', transformer: storedText }) result: string;
}

/** A change of a component since the previous scan. */
@Entity('discovery_changes')
@Index('ix_discovery_changes_key', ['componentKey', 'id'])
export class DiscoveryChangeEntity {
  /** Increases with the scan, and within a scan in the order of its changes. */
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'bigint', name: 'scan_id', transformer: safeInteger }) scanId: number;
  @Column({ type: 'datetime', name: 'noticed_at', precision: 3 }) noticedAt: Date;
  @Column({ type: 'varchar', name: 'component_map', length: 24 }) componentMap: ComponentMap;
  @Column({ type: 'varchar', name: 'component_key', length: 64 }) componentKey: string;
  @Column({ type: 'varchar', length: 16 }) event: ChangeEvent;
  /** Status of the component in that scan; null when it was removed. */
  @Column({ type: 'varchar', length: 16, nullable: true }) status: ComponentStatus | null;
  @Column({ type: 'varchar', length: 24, nullable: true }) failure: ProbeFailure | null;
}

/** The running scan, and the snapshot of the last completed one. One row for all replicas. */
@Entity('discovery_state')
export class DiscoveryStateEntity {
  @PrimaryColumn({ type: 'varchar', length: 16 }) name: string;
  /** Number of the last started scan; scans are counted from 1. */
  @Column({ type: 'bigint', transformer: safeInteger }) begun: number;
  /** Holder of the lease until `heldUntil`; null for none. */
  @Column({ type: 'varchar', length: 36, nullable: true }) holder: string | null;
  @Column({ type: 'datetime', name: 'held_until', precision: 3 }) heldUntil: Date;
  /** JSON of the Snapshot of the last completed scan; null before the first. */
  @Column({ type: 'json', nullable: true, transformer: storedText }) snapshot: string | null;
}
