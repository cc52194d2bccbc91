import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A key that sealed something stored here. The canary proves at start that the configured key is that key. */
@Entity('secret_keys')
export class SecretKeyEntity {
  @PrimaryColumn({ type: 'varchar', length: 32 }) id: string;
  @Column({ type: 'varchar', length: 512 }) canary: string;
  @Column({ type: 'datetime', name: 'created_at', precision: 3 }) createdAt: Date;
}
