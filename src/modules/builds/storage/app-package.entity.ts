import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { UserReference } from '../../../common/user/user-reference.js';
import { storedText } from '../../../database/column-values.js';

/** The package that an application version was delivered with. */
@Entity('app_packages')
export class AppPackageEntity {
  @PrimaryColumn({ type: 'varchar', name: 'app_id', length: 64 }) appId: string;
  @PrimaryColumn({ type: 'varchar', name: 'app_version_id', length: 64 }) appVersionId: string;
  /** SHA-256 of the canonical JSON of the document. */
  @Column({ type: 'varchar', length: 64 }) checksum: string;
  /** The document's JSON, packed by packText(). */
  @Column({ type: 'json', transformer: storedText }) document: string;
  /** JSON of DraftWorkflow[], packed by packText(). */
  @Column({ type: 'json', transformer: storedText }) workflows: string;
  @Column({ type: 'datetime', name: 'stored_at', precision: 3 }) storedAt: Date;
  @Column({ type: 'simple-json', name: 'stored_by' }) storedBy: UserReference;
}
