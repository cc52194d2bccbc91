import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../../../database/column-values.js';
import type { ComponentMap } from '../model/component.types.js';
import type { ProbeFailure } from '../model/probe.error.js';
import type { ChangeEvent, ComponentStatus } from '../model/scan.types.js';

/** Something that a scan found different from the scan before it. */
@Entity('discovery_changes')
@Index('ix_discovery_changes_key', ['componentKey', 'id'])
export class DiscoveryChangeEntity {
  /** Grows with the scan, and within a scan with the order in which it tells its changes. */
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'bigint', name: 'scan_id', transformer: safeInteger }) scanId: number;
  @Column({ type: 'datetime', name: 'noticed_at', precision: 3 }) noticedAt: Date;
  @Column({ type: 'varchar', name: 'component_map', length: 24 }) componentMap: ComponentMap;
  @Column({ type: 'varchar', name: 'component_key', length: 64 }) componentKey: string;
  @Column({ type: 'varchar', length: 16 }) event: ChangeEvent;
  /** Of the component in that scan; null when it is gone. */
  @Column({ type: 'varchar', length: 16, nullable: true }) status: ComponentStatus | null;
  @Column({ type: 'varchar', length: 24, nullable: true }) failure: ProbeFailure | null;
}
