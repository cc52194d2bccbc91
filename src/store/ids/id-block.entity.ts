import { Column, Entity, PrimaryColumn } from 'typeorm';
import { safeInteger } from '../tables/column-values.js';

/** The first id of a kind that no replica has reserved yet. */
@Entity('id_blocks')
export class IdBlockEntity {
  @PrimaryColumn({ type: 'varchar', length: 32 }) name: string;
  @Column({ type: 'bigint', transformer: safeInteger }) next: number;
}
