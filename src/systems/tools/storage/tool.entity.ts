import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../../platform/user/user-reference.js';
import type { SystemEntity } from '../../storage/system.entity.js';

type Json = Record<string, unknown>;

/** What was decided about a definition of a tool. */
abstract class DecisionColumns {
  @Column({ type: 'boolean' }) enabled: boolean;
  /** Who set `enabled`; null where no person did, but the synchronisation by its rules. */
  @Column({ type: 'simple-json', name: 'decided_by', nullable: true }) decidedBy: UserReference | null;
  /** When `enabled` was set; null where that was before this was kept. */
  @Column({ type: 'datetime', name: 'decided_at', precision: 3, nullable: true }) decidedAt: Date | null;
}

/** How a tool is defined, and what was decided about that. */
abstract class DecidedColumns extends DecisionColumns {
  @Column({ type: 'varchar', length: 255, nullable: true }) title: string | null;
  @Column({ type: 'text' }) description: string;
  @Column({ type: 'simple-json', name: 'input_schema' }) inputSchema: Json;
  @Column({ type: 'simple-json', name: 'output_schema', nullable: true }) outputSchema: Json | null;
  @Column({ type: 'simple-json', nullable: true }) annotations: Json | null;
  /** SHA-256 of the canonical definition, see definitionHash(). */
  @Column({ type: 'varchar', name: 'definition_hash', length: 64 }) definitionHash: string;
}

/** One tool of an MCP system. It keeps its id and `enabled` for ever, also while the server does not offer it. */
@Entity('tools')
@Index('uq_tools_system_name', ['systemId', 'name'], { unique: true })
export class ToolEntity extends DecidedColumns {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', name: 'system_id', length: 36 }) systemId: string;
  @Column({ type: 'varchar', length: 128 }) name: string;
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

/**
 * A tool as it was when something was last decided about it, kept since its server has defined it otherwise. There is none where
 * the decision is about the present definition, or where nothing was ever decided.
 */
@Entity('reviewed_tools')
@Index('ix_reviewed_tools_system', ['systemId'])
export class ReviewedToolEntity extends DecidedColumns {
  @PrimaryColumn({ type: 'varchar', name: 'tool_id', length: 36 }) toolId: string;
  @Column({ type: 'varchar', name: 'system_id', length: 36 }) systemId: string;
}

/**
 * Whether agents may call a tool that is defined in this very way, in all versions of an application. It outlives versions and
 * systems, so that a new version takes it over.
 */
@Entity('tool_decisions')
export class ToolDecisionEntity extends DecisionColumns {
  @PrimaryColumn({ type: 'varchar', name: 'resource_definition_id', length: 36 })
  resourceDefinitionId: string;
  @PrimaryColumn({ type: 'varchar', length: 128 }) name: string;
  /** As in `tools`. */
  @PrimaryColumn({ type: 'varchar', name: 'definition_hash', length: 64 }) definitionHash: string;
}

/** A tool without the relation to its system. */
export type ToolRow = Omit<ToolEntity, 'system'>;
