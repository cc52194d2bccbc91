import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '../../../common/json.js';
import { safeInteger } from '../../../database/safe-integer.js';
import { storedJson } from '../../../database/stored-json.js';
import type { ProcessEventKind } from '../model/process-runtime.types.js';

/** One line of the audit trail of an instance; `seq` has no gaps. Rows are only ever added. */
@Entity('process_events')
export class ProcessEventEntity {
  @PrimaryColumn({ type: 'bigint', name: 'instance_id', transformer: safeInteger }) instanceId: number;
  @PrimaryColumn({ type: 'int' }) seq: number;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'varchar', length: 32 }) kind: ProcessEventKind;
  @Column({ type: 'bigint', name: 'token_id', transformer: safeInteger, nullable: true }) tokenId:
    number | null;
  @Column({ type: 'int', nullable: true }) node: number | null;
  /** User name; null for background work. */
  @Column({ type: 'varchar', length: 255, nullable: true }) actor: string | null;
  @Column({ type: 'varchar', name: 'request_id', length: 64, nullable: true }) requestId: string | null;
  @Column({ type: 'datetime', precision: 3 }) at: Date;
  @Column({ type: 'json', transformer: storedJson, nullable: true }) data: JsonObject | null;
}
