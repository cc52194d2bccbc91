import { Column, Entity, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../../../database/column-values.js';

/** How many live instances a started instance has called, directly and through others. Only families that call have a row. */
@Entity('process_families')
export class ProcessFamilyEntity {
  @PrimaryColumn({ type: 'bigint', name: 'root_id', transformer: safeInteger }) rootId: number;
  @Column({ type: 'int' }) shard: number;
  /** Called instances that have not ended; their root is not counted. */
  @Column({ type: 'int' }) instances: number;
}
