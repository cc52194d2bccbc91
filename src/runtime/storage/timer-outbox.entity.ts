import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '#engine/json';
import { safeInteger, storedJson } from '../../store/tables/column-values.js';

/** Timer start scheduled by an activation whose job is not yet in its shard. */
@Entity('timer_outbox')
export class TimerOutboxEntity {
  /** Id of the job. */
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'json', transformer: storedJson }) work: JsonObject;
}
