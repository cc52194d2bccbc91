import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../../common/user/user-reference.js';
import { storedText } from '../../../database/column-values.js';
import type { BuildStatus } from '../model/builds.types.js';

/** A build: an immutable snapshot of a committed application version. Nothing of it changes but how it stands: `status`, `activatedAt`. */
@Entity('builds')
@Index('ix_builds_app', ['appId', 'buildId'])
@Index('ix_builds_version', ['appVersionId', 'appId'])
export class BuildEntity {
  @PrimaryColumn({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @Column({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', name: 'app_version_id', length: 64 }) appVersionId: string;
  @Column({ type: 'varchar', length: 16 }) status: BuildStatus;
  /** SHA-256 of everything in the build but its id and time. */
  @Column({ type: 'varchar', length: 64 }) checksum: string;
  /** JSON of BuildSettings. */
  @Column({ type: 'json', transformer: storedText }) settings: string;
  /** JSON of the applications that may use the build as a library; null where its package says nothing of it. */
  @Column({ type: 'json', name: 'usable_by', nullable: true, transformer: storedText }) usableBy:
    string | null;
  /** JSON of the applications that may use systems of the library in nodes of their own; null: all that may use the library. */
  @Column({ type: 'json', name: 'systems_usable_by', nullable: true, transformer: storedText })
  systemsUsableBy: string | null;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
  @Column({ type: 'simple-json', name: 'created_by' }) createdBy: UserReference;
  /** When it was active for the first time. */
  @Column({ type: 'datetime', name: 'activated_at', precision: 3, nullable: true }) activatedAt: Date | null;
}
