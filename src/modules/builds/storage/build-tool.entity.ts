import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A tool as it was when the build was made: its reviewed definition and its flag. */
@Entity('build_tools')
@Index('ix_build_tools_system', ['buildId', 'systemId'])
export class BuildToolEntity {
  @PrimaryColumn({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @PrimaryColumn({ type: 'varchar', name: 'tool_id', length: 36 }) toolId: string;
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
  @Column({ type: 'varchar', name: 'definition_hash', length: 64 }) definitionHash: string;
  @Column({ type: 'boolean' }) enabled: boolean;
  @Column({ type: 'int' }) position: number;
}
