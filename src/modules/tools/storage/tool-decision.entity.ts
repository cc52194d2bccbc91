import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../../common/user/user-reference.js';

/**
 * Whether agents may call a tool that is defined in this very way, in all versions of an application. It outlives versions and
 * systems, so that a new version takes it over.
 */
@Entity('tool_decisions')
export class ToolDecisionEntity {
  @PrimaryColumn({ type: 'varchar', name: 'resource_definition_id', length: 36 })
  resourceDefinitionId: string;
  @PrimaryColumn({ type: 'varchar', length: 128 }) name: string;
  /** As in `tools`. */
  @PrimaryColumn({ type: 'varchar', name: 'definition_hash', length: 64 }) definitionHash: string;
  @Column({ type: 'boolean' }) enabled: boolean;
  /** Null where no person decided, but the synchronisation by its rules. */
  @Column({ type: 'simple-json', name: 'decided_by', nullable: true }) decidedBy: UserReference | null;
  /** Null for what was decided before decisions were kept. */
  @Column({ type: 'datetime', name: 'decided_at', precision: 3, nullable: true }) decidedAt: Date | null;
}
