import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../../common/user/user-reference.js';
import type { SystemEntity } from '../../systems/storage/system.entity.js';

/** One tool of an MCP system. It keeps its id and `enabled` for ever, also while the server does not offer it. */
@Entity('tools')
@Index('uq_tools_system_name', ['systemId', 'name'], { unique: true })
export class ToolEntity {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', name: 'system_id', length: 36 }) systemId: string;
  @Column({ type: 'varchar', length: 128 }) name: string;
  @Column({ type: 'varchar', length: 255, nullable: true }) title: string | null;
  @Column({ type: 'text' }) description: string;
  @Column({ type: 'simple-json', name: 'input_schema' }) inputSchema: Record<string, unknown>;
  @Column({ type: 'simple-json', name: 'output_schema', nullable: true }) outputSchema: Record<
    string,
    unknown
  > | null;
  @Column({ type: 'simple-json', nullable: true }) annotations: Record<string, unknown> | null;
  /** SHA-256 of the canonical definition, see definitionHash(). */
  @Column({ type: 'varchar', name: 'definition_hash', length: 64 }) definitionHash: string;
  @Column({ type: 'boolean' }) enabled: boolean;
  /** Who set `enabled`; null where no person did, but the synchronisation by its rules. */
  @Column({ type: 'simple-json', name: 'decided_by', nullable: true }) decidedBy: UserReference | null;
  /** When `enabled` was set; null where that was before this was kept. */
  @Column({ type: 'datetime', name: 'decided_at', precision: 3, nullable: true }) decidedAt: Date | null;
  /** False while the server's list lacks the tool: then it is neither listed nor offered. */
  @Column({ type: 'boolean' }) present: boolean;
  /** Place in the server's list. */
  @Column({ type: 'int' }) position: number;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
  @Column({ type: 'datetime', name: 'modified_at', precision: 3 }) modifiedAt: Date;
  @ManyToOne('SystemEntity', { createForeignKeyConstraints: false, nullable: false })
  @JoinColumn({ name: 'system_id' })
  system: SystemEntity;
}
