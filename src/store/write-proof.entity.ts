import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Number of rows. Each process picks one at random; sharing a row is harmless. */
export const PROOF_SLOTS = 1_024;

/** A row that a replica writes only to check that writing works. Replicas use different rows to avoid lock waits. */
@Entity('write_proofs')
export class WriteProofEntity {
  @PrimaryColumn({ type: 'int' }) slot: number;
  @Column({ type: 'datetime', name: 'written_at', precision: 3 }) writtenAt: Date;
  /** Release of the replica; null if no replica has written the row. */
  @Column({ type: 'varchar', name: 'service_release', length: 32, nullable: true }) serviceRelease?:
    string | null;
  /** Keyed hash of the security settings of the replica. */
  @Column({ type: 'varchar', name: 'settings_hash', length: 22, nullable: true }) settingsHash?:
    string | null;
}
