import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '#engine/json';
import { safeInteger, storedJson } from '../../store/tables/column-values.js';

/** A start by the clock that an activation has decided, while its job is not yet in the shard where it belongs. */
@Entity('timer_outbox')
export class TimerOutboxEntity {
  /** Of the job. */
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'json', transformer: storedJson }) work: JsonObject;
}
