import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { AppVersionState, DependencyType } from './apps.types.js';

/** Application version with resources. Both ids are opaque and assigned by the caller's platform. */
@Entity('app_versions')
@Index('ix_app_versions_created', ['appId', 'createdAt', 'appVersionId'])
export class AppVersionEntity {
  @PrimaryColumn({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @PrimaryColumn({ type: 'varchar', name: 'app_version_id', length: 64 }) appVersionId: string;
  @Column({ type: 'varchar', length: 16 }) state: AppVersionState;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
  @Column({ type: 'datetime', name: 'committed_at', precision: 3, nullable: true }) committedAt: Date | null;
}

/** Dependency of one application version on the resources of another. */
@Entity('version_dependencies')
export class VersionDependencyEntity {
  @PrimaryColumn({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @PrimaryColumn({ type: 'varchar', name: 'app_version_id', length: 64 }) appVersionId: string;
  @PrimaryColumn({ type: 'varchar', name: 'dependency_type', length: 16 }) dependencyType: DependencyType;
  @PrimaryColumn({ type: 'varchar', name: 'dependency_app_id', length: 64 }) dependencyAppId: string;
  @PrimaryColumn({ type: 'varchar', name: 'dependency_app_version_id', length: 64 })
  dependencyAppVersionId: string;
}
