import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A library that a build uses, directly (level 1) or through another one. One build of each library, by the primary key. */
@Entity('build_libraries')
export class BuildLibraryEntity {
  @PrimaryColumn({ type: 'varchar', name: 'build_id', length: 36 }) buildId: string;
  @PrimaryColumn({ type: 'varchar', name: 'library_app_id', length: 64 }) libraryAppId: string;
  @Column({ type: 'varchar', name: 'library_build_id', length: 36 }) libraryBuildId: string;
  @Column({ type: 'int' }) level: number;
}
