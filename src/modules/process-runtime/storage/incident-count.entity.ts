import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '../../../common/json.js';
import { storedJson } from '../../../database/column-values.js';

/** The one row of it. */
export const INCIDENT_COUNT_ID = 1;

/** How many incidents were open when a replica last counted. One row for all replicas. */
@Entity('incident_counts')
export class IncidentCountEntity {
  @PrimaryColumn({ type: 'int' }) id: number;
  /** By type of incident. */
  @Column({ type: 'json', transformer: storedJson }) counts: JsonObject;
  /** From when on a replica counts again; whoever moves it does. */
  @Column({ type: 'datetime', name: 'due_at', precision: 3 }) dueAt: Date;
}
