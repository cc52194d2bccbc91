import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../../../database/column-values.js';

/** A token that waits for a message. */
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
  /** `waitKey` where no other token may wait for the same (PROCESS_MESSAGE_ONE_RECEIVER), else null. */
  @Column({ type: 'varchar', name: 'only_key', length: 64, nullable: true }) onlyKey: string | null;
}
