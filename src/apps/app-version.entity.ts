import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { AppVersionState, DependencyType } from './apps.types.js';

/** One application version that holds resources. Both ids are opaque and owned by the caller's platform. */
@Entity('app_versions')
@Index('ix_app_versions_created', ['appId', 'createdAt', 'appVersionId'])
export class AppVersionEntity {
  @PrimaryColumn({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @PrimaryColumn({ type: 'varchar', name: 'app_version_id', length: 64 }) appVersionId: string;
  @Column({ type: 'varchar', length: 16 }) state: AppVersionState;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
  @Column({ type: 'datetime', name: 'committed_at', precision: 3, nullable: true }) committedAt: Date | null;
}

/** One application version uses the resources of another one. */
@Entity('version_dependencies')
export class VersionDependencyEntity {
  @PrimaryColumn({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @PrimaryColumn({ type: 'varchar', name: 'app_version_id', length: 64 }) appVersionId: string;
  @PrimaryColumn({ type: 'varchar', name: 'dependency_type', length: 16 }) dependencyType: DependencyType;
  @PrimaryColumn({ type: 'varchar', name: 'dependency_app_id', length: 64 }) dependencyAppId: string;
  @PrimaryColumn({ type: 'varchar', name: 'dependency_app_version_id', length: 64 })
  dependencyAppVersionId: string;
}
