import { Entity, PrimaryColumn } from 'typeorm';

/**
 * An application that used a library before packages said who may (`usableBy`). It may go on with builds whose packages say
 * nothing. Written by a migration alone.
 */
@Entity('library_users')
export class LibraryUserEntity {
  @PrimaryColumn({ type: 'varchar', name: 'library_app_id', length: 64 }) libraryAppId: string;
  @PrimaryColumn({ type: 'varchar', name: 'user_app_id', length: 64 }) userAppId: string;
}
