import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How many rows there are. Each process takes one by chance; two with the same one do each other no harm. */
export const PROOF_SLOTS = 1_024;

/** Written for no other reason than to see that writing works. Replicas have rows of their own: none waits for another. */
@Entity('write_proofs')
export class WriteProofEntity {
  @PrimaryColumn({ type: 'int' }) slot: number;
  @Column({ type: 'datetime', name: 'written_at', precision: 3 }) writtenAt: Date;
  /** Of the replica; null where the row is of none. */
  @Column({ type: 'varchar', name: 'service_release', length: 32, nullable: true }) serviceRelease?:
    string | null;
  /** Keyed hash of its security settings. */
  @Column({ type: 'varchar', name: 'settings_hash', length: 22, nullable: true }) settingsHash?:
    string | null;
}
