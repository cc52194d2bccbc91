import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger, storedText } from '../../../database/column-values.js';

/** A process definition in a build. */
@Entity('build_definitions')
@Index('uq_build_definitions_name', ['buildId', 'name'], { unique: true })
export class BuildDefinitionEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @Column({ type: 'varchar', length: 255 }) name: string;
  @Column({ type: 'varchar', name: 'svc_uuid', length: 64 }) svcUuid: string;
  @Column({ type: 'varchar', name: 'resource_id', length: 36 }) resourceId: string;
  /** File of the package that it comes from. */
  @Column({ type: 'varchar', length: 255 }) file: string;
  /** JSON of ProcessGraph, the nodes with their ids. */
  @Column({ type: 'json', transformer: storedText }) graph: string;
  /** That file, as it was delivered. */
  @Column({ type: 'json', transformer: storedText }) bpmn: string;
}
