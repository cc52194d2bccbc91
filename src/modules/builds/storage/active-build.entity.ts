import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../../common/user/user-reference.js';

/** The build of an application that is active. The other columns are null where there is none. */
@Entity('active_builds')
export class ActiveBuildEntity {
  @PrimaryColumn({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @Column({ type: 'varchar', name: 'build_id', length: 36, nullable: true }) buildId: string | null;
  @Column({ type: 'datetime', name: 'activated_at', precision: 3, nullable: true }) activatedAt: Date | null;
  @Column({ type: 'simple-json', name: 'activated_by', nullable: true }) activatedBy: UserReference | null;
}
