import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../../common/user/user-reference.js';

/**
 * A tool as it was when something was last decided about it, kept since its server has defined it otherwise. There is none where
 * the decision is about the present definition, or where nothing was ever decided.
 */
@Entity('reviewed_tools')
@Index('ix_reviewed_tools_system', ['systemId'])
export class ReviewedToolEntity {
  @PrimaryColumn({ type: 'varchar', name: 'tool_id', length: 36 }) toolId: string;
  @Column({ type: 'varchar', name: 'system_id', length: 36 }) systemId: string;
  @Column({ type: 'varchar', length: 255, nullable: true }) title: string | null;
  @Column({ type: 'text' }) description: string;
  @Column({ type: 'simple-json', name: 'input_schema' }) inputSchema: Record<string, unknown>;
  @Column({ type: 'simple-json', name: 'output_schema', nullable: true }) outputSchema: Record<
    string,
    unknown
  > | null;
  @Column({ type: 'simple-json', nullable: true }) annotations: Record<string, unknown> | null;
  /** As in `tools`. */
  @Column({ type: 'varchar', name: 'definition_hash', length: 64 }) definitionHash: string;
  @Column({ type: 'boolean' }) enabled: boolean;
  /** Null where no person decided, but the synchronisation by its rules. */
  @Column({ type: 'simple-json', name: 'decided_by', nullable: true }) decidedBy: UserReference | null;
  /** Null where that was before this was kept. */
  @Column({ type: 'datetime', name: 'decided_at', precision: 3, nullable: true }) decidedAt: Date | null;
}
