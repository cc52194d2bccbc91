import { Entity, PrimaryColumn } from 'typeorm';
import type { DependencyType } from './apps.types.js';

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
