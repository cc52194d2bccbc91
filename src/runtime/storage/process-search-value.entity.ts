import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../../store/tables/column-values.js';

/**
 * Searchable value of an instance (docs/bpmn.md, "Data by which instances are found"). Each index covers the search for one kind of
 * caller.
 */
@Entity('process_search_values')
@Index('ix_process_search_values_term', ['term', 'uuid', 'instanceId', 'shard'])
@Index('ix_process_search_values_app', ['term', 'appId', 'uuid', 'instanceId', 'shard'])
@Index('ix_process_search_values_starter', ['term', 'starter', 'uuid', 'instanceId', 'shard'])
export class ProcessSearchValueEntity {
  @PrimaryColumn({ type: 'bigint', name: 'instance_id', transformer: safeInteger }) instanceId: number;
  /** Index in the `searchable` list of the definition. */
  @PrimaryColumn({ type: 'int' }) member: number;
  @Column({ type: 'int' }) shard: number;
  /** Uuid of the instance, for sorting newest first. */
  @Column({ type: 'varchar', length: 36 }) uuid: string;
  /** Application of the instance; with `starter` it decides who may see the row. */
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', length: 64, nullable: true }) starter: string | null;
  /** Hash of path and value; null if the value was removed. */
  @Column({ type: 'varchar', length: 64, nullable: true }) term: string | null;
}
