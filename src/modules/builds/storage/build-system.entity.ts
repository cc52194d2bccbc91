import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AuthorizationType, SystemType } from '../../systems/model/system.types.js';

/** A system as it was when the build was made. Its secret is not copied: it stays in the row of the system, `systemId`. */
@Entity('build_systems')
export class BuildSystemEntity {
  @PrimaryColumn({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @PrimaryColumn({ type: 'varchar', name: 'resource_definition_id', length: 36 })
  resourceDefinitionId: string;
  @Column({ type: 'varchar', name: 'system_id', length: 36 }) systemId: string;
  @Column({ type: 'varchar', name: 'resource_id', length: 36 }) resourceId: string;
  @Column({ type: 'varchar', length: 16 }) type: SystemType;
  @Column({ type: 'varchar', name: 'resource_name', length: 255 }) resourceName: string;
  @Column({ type: 'varchar', length: 255 }) name: string;
  @Column({ type: 'varchar', length: 2000 }) description: string;
  @Column({ type: 'varchar', name: 'base_url', length: 2048, nullable: true }) baseUrl: string | null;
  @Column({ type: 'varchar', name: 'authorization_type', length: 16, nullable: true })
  authorizationType: AuthorizationType | null;
  @Column({ type: 'varchar', name: 'client_id', length: 255, nullable: true }) clientId: string | null;
  @Column({ type: 'varchar', name: 'identity_provider_url', length: 2048, nullable: true })
  identityProviderUrl: string | null;
}
