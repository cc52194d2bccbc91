import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What stays the same about a named resource through all versions of an application: its definition id. */
@Entity('resource_definitions')
@Index('uq_resource_definitions_app_name', ['appId', 'nameKey'], { unique: true })
export class ResourceDefinitionEntity {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', name: 'name_key', length: 255 }) nameKey: string;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
  /** When tools of any system of this definition were first stored; null means never, so that the next list is the first one. */
  @Column({ type: 'datetime', name: 'tools_synchronised_at', precision: 3, nullable: true })
  toolsSynchronisedAt: Date | null;
}
