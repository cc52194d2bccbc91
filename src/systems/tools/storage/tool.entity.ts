import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../../platform/user/user-reference.js';
import type { SystemEntity } from '../../storage/system.entity.js';

type Json = Record<string, unknown>;

/** Decision about a definition of a tool. */
abstract class DecisionColumns {
  @Column({ type: 'boolean' }) enabled: boolean;
  /** Who set `enabled`; null when the rules of the synchronisation did and not a person. */
  @Column({ type: 'simple-json', name: 'decided_by', nullable: true }) decidedBy: UserReference | null;
  /** When `enabled` was set; null when it was set before times were recorded. */
  @Column({ type: 'datetime', name: 'decided_at', precision: 3, nullable: true }) decidedAt: Date | null;
}

/** Definition of a tool and the decision about it. */
abstract class DecidedColumns extends DecisionColumns {
  @Column({ type: 'varchar', length: 255, nullable: true }) title: string | null;
  @Column({ type: 'text' }) description: string;
  @Column({ type: 'simple-json', name: 'input_schema' }) inputSchema: Json;
  @Column({ type: 'simple-json', name: 'output_schema', nullable: true }) outputSchema: Json | null;
  @Column({ type: 'simple-json', nullable: true }) annotations: Json | null;
  /** SHA-256 of the canonical definition, see `definitionHash`. */
  @Column({ type: 'varchar', name: 'definition_hash', length: 64 }) definitionHash: string;
}

/** Tool of an MCP system. Keeps its id and `enabled` for ever, even while the server does not list it. */
@Entity('tools')
@Index('uq_tools_system_name', ['systemId', 'name'], { unique: true })
export class ToolEntity extends DecidedColumns {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', name: 'system_id', length: 36 }) systemId: string;
  @Column({ type: 'varchar', length: 128 }) name: string;
  /** False while the server does not list the tool. Then it is neither shown nor offered to agents. */
  @Column({ type: 'boolean' }) present: boolean;
  /** Position in the server's list. */
  @Column({ type: 'int' }) position: number;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
  @Column({ type: 'datetime', name: 'modified_at', precision: 3 }) modifiedAt: Date;
  @ManyToOne('SystemEntity', { createForeignKeyConstraints: false, nullable: false })
  @JoinColumn({ name: 'system_id' })
  system: SystemEntity;
}

/**
 * Snapshot of a tool at its last decision, stored when its server changes the definition. Absent while the decision is about the
 * current definition, or when there never was one.
 */
@Entity('reviewed_tools')
@Index('ix_reviewed_tools_system', ['systemId'])
export class ReviewedToolEntity extends DecidedColumns {
  @PrimaryColumn({ type: 'varchar', name: 'tool_id', length: 36 }) toolId: string;
  @Column({ type: 'varchar', name: 'system_id', length: 36 }) systemId: string;
}

/**
 * Decision whether agents may call a tool with one definition. Outlives versions and systems, so that new versions of the application
 * inherit it.
 */
@Entity('tool_decisions')
export class ToolDecisionEntity extends DecisionColumns {
  @PrimaryColumn({ type: 'varchar', name: 'resource_definition_id', length: 36 })
  resourceDefinitionId: string;
  @PrimaryColumn({ type: 'varchar', length: 128 }) name: string;
  /** As in `tools`. */
  @PrimaryColumn({ type: 'varchar', name: 'definition_hash', length: 64 }) definitionHash: string;
}

/** A tool without its relation to the system. */
export type ToolRow = Omit<ToolEntity, 'system'>;
