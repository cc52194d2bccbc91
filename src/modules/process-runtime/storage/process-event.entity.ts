import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '../../../common/json.js';
import { safeInteger } from '../../../database/safe-integer.js';
import { storedJson } from '../../../database/stored-json.js';
import type { ProcessEventKind } from '../model/process-runtime.types.js';

/** The kind of a row that holds several events, packed. */
export const PACKED = 'PACKED';

/**
 * Lines of the audit trail of an instance, whose numbers have no gaps. A row holds one event, or those of a step that follow each other, and
 * has the number of the last one. Rows are only ever added.
 */
@Entity('process_events')
export class ProcessEventEntity {
  @PrimaryColumn({ type: 'bigint', name: 'instance_id', transformer: safeInteger }) instanceId: number;
  @PrimaryColumn({ type: 'int' }) seq: number;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'varchar', length: 32 }) kind: ProcessEventKind | typeof PACKED;
  /** Of one event; null where there are several, as the node. */
  @Column({ type: 'bigint', name: 'token_id', transformer: safeInteger, nullable: true }) tokenId:
    number | null;
  @Column({ type: 'int', nullable: true }) node: number | null;
  /** User name; null for background work. */
  @Column({ type: 'varchar', length: 255, nullable: true }) actor: string | null;
  @Column({ type: 'varchar', name: 'request_id', length: 64, nullable: true }) requestId: string | null;
  @Column({ type: 'datetime', precision: 3 }) at: Date;
  /** Of one event; what `packEvents` gives where there are several. */
  @Column({ type: 'json', transformer: storedJson, nullable: true }) data: JsonObject | unknown[] | null;
}
