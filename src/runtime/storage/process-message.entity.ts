import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '#engine/json';
import { safeInteger, storedJson } from '../../store/tables/column-values.js';

@Entity('process_messages')
@Index('ix_process_messages_key', ['waitKey', 'id'])
@Index('ix_process_messages_expiry', ['expiresAt'])
export class ProcessMessageEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  /** Derived from the key, so that equal keys are in one shard. */
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'varchar', name: 'wait_key', length: 64 }) waitKey: string;
  /** Application of the first caller in the call chain. */
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', length: 255 }) message: string;
  @Column({ type: 'json', transformer: storedJson }) payload: JsonObject;
  @Column({ type: 'datetime', name: 'published_at', precision: 3 }) publishedAt: Date;
  @Column({ type: 'datetime', name: 'expires_at', precision: 3 }) expiresAt: Date;
}

/** Wait of a token for a message. */
@Entity('process_message_waits')
@Index('ix_process_message_waits_key', ['waitKey', 'id'])
@Index('ix_process_message_waits_token', ['instanceId', 'tokenId'])
@Index('uq_process_message_waits_only', ['onlyKey'], { unique: true })
export class ProcessMessageWaitEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'bigint', name: 'instance_id', transformer: safeInteger }) instanceId: number;
  @Column({ type: 'bigint', name: 'token_id', transformer: safeInteger }) tokenId: number;
  @Column({ type: 'int' }) visit: number;
  @Column({ type: 'int' }) node: number;
  @Column({ type: 'varchar', name: 'wait_key', length: 64 }) waitKey: string;
  @Column({ type: 'varchar', length: 255 }) message: string;
  /** `waitKey` if only one token may wait for it (PROCESS_MESSAGE_ONE_RECEIVER), else null. */
  @Column({ type: 'varchar', name: 'only_key', length: 64, nullable: true }) onlyKey: string | null;
}
