import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '../../../common/json.js';
import { safeInteger, storedJson } from '../../../database/column-values.js';

/** A published message that nobody has received yet. */
@Entity('process_messages')
@Index('ix_process_messages_key', ['waitKey', 'id'])
@Index('ix_process_messages_expiry', ['expiresAt'])
export class ProcessMessageEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  /** Follows from the key, so that equal keys are in one shard. */
  @Column({ type: 'int' }) shard: number;
  @Column({ type: 'varchar', name: 'wait_key', length: 64 }) waitKey: string;
  /** Application at the top of the calls. */
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', length: 255 }) message: string;
  @Column({ type: 'json', transformer: storedJson }) payload: JsonObject;
  @Column({ type: 'datetime', name: 'published_at', precision: 3 }) publishedAt: Date;
  @Column({ type: 'datetime', name: 'expires_at', precision: 3 }) expiresAt: Date;
}
