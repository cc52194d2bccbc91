import { Column, Entity, PrimaryColumn } from 'typeorm';
import { storedText } from '../../../database/column-values.js';

/** A workflow in a build. */
@Entity('build_workflows')
export class BuildWorkflowEntity {
  @PrimaryColumn({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @PrimaryColumn({ type: 'varchar', length: 255 }) name: string;
  @Column({ type: 'varchar', name: 'resource_id', length: 36 }) resourceId: string;
  @Column({ type: 'varchar', name: 'resource_definition_id', length: 36 }) resourceDefinitionId: string;
  /** JSON as it was delivered. */
  @Column({ type: 'json', transformer: storedText }) definition: string;
}
