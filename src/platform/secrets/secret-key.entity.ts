import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A key that stored values were sealed with. At start the canary shows whether the configured key is the same. */
@Entity('secret_keys')
export class SecretKeyEntity {
  @PrimaryColumn({ type: 'varchar', length: 32 }) id: string;
  @Column({ type: 'varchar', length: 512 }) canary: string;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
}
