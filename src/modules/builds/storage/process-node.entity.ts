import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../../../database/column-values.js';

/** The number of a node of a process definition, the same for the same node in every build. */
@Entity('process_nodes')
@Index('uq_process_nodes_node', ['definitionSvcUuid', 'nodeSvcUuid'], { unique: true })
export class ProcessNodeEntity {
  @PrimaryColumn({ type: 'bigint', transformer: safeInteger }) id: number;
  @Column({ type: 'varchar', name: 'definition_svc_uuid', length: 64 }) definitionSvcUuid: string;
  @Column({ type: 'varchar', name: 'node_svc_uuid', length: 64 }) nodeSvcUuid: string;
  /** Id of the BPMN element when the number was given, for a person who reads the table. */
  @Column({ type: 'varchar', name: 'bpmn_id', length: 255 }) bpmnId: string;
}
