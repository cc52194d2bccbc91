import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../../store/tables/column-values.js';

/**
 * A value by which an instance is found (docs/bpmn.md, "Data by which instances are found"). The indexes hold all that a search reads: one
 * for each way in which a caller may see instances.
 */
@Entity('process_search_values')
@Index('ix_process_search_values_term', ['term', 'uuid', 'instanceId', 'shard'])
@Index('ix_process_search_values_app', ['term', 'appId', 'uuid', 'instanceId', 'shard'])
@Index('ix_process_search_values_starter', ['term', 'starter', 'uuid', 'instanceId', 'shard'])
export class ProcessSearchValueEntity {
  @PrimaryColumn({ type: 'bigint', name: 'instance_id', transformer: safeInteger }) instanceId: number;
  /** Position in the `searchable` of its definition. */
  @PrimaryColumn({ type: 'int' }) member: number;
  @Column({ type: 'int' }) shard: number;
  /** Of the instance: newest first is its order. */
  @Column({ type: 'varchar', length: 36 }) uuid: string;
  /** Of the instance, as `starter`: who may see the row. */
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', length: 64, nullable: true }) starter: string | null;
  /** Hash of path and value; null where there is none any more. */
  @Column({ type: 'varchar', length: 64, nullable: true }) term: string | null;
}
