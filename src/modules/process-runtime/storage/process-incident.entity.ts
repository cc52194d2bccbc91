import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../../../database/safe-integer.js';
import { storedText } from '../../../database/stored-text.js';

/** Why a process stopped, for operators (semantics: exception record). */
@Entity('process_incidents')
@Index('ix_process_incidents_open', ['instanceId', 'state', 'tokenId'])
export class ProcessIncidentEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'varchar', length: 36 }) uuid: string;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'bigint', name: 'instance_id', transformer: safeInteger }) instanceId: number;
  @Column({ type: 'varchar', length: 16 }) state: string;
  @Column({ type: 'varchar', length: 32 }) source: string;
  @Column({ type: 'varchar', length: 32 }) type: string;
  @Column({ type: 'varchar', length: 2000 }) message: string;
  @Column({ type: 'bigint', name: 'token_id', transformer: safeInteger, nullable: true }) tokenId:
    number | null;
  @Column({ type: 'int', nullable: true }) visit: number | null;
  @Column({ type: 'int', nullable: true }) node: number | null;
  @Column({ type: 'varchar', name: 'action_svc_uuid', length: 64, nullable: true }) actionSvcUuid:
    string | null;
  @Column({ type: 'json', transformer: storedText, nullable: true }) job: string | null;
  /** Names what stopped: one open incident for each. */
  @Column({ type: 'varchar', name: 'work_key', length: 64 }) workKey: string;
  @Column({ type: 'varchar', name: 'request_id', length: 64, nullable: true }) requestId: string | null;
  @Column({ type: 'datetime', name: 'raised_at', precision: 3 }) raisedAt: Date;
  @Column({ type: 'datetime', name: 'closed_at', precision: 3, nullable: true }) closedAt: Date | null;
}
