import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A step of an upgrade that needs more than SQL, and was done. */
@Entity('migration_steps')
export class MigrationStepEntity {
  @PrimaryColumn({ type: 'varchar', length: 64 }) name: string;
  @Column({ type: 'datetime', name: 'done_at', precision: 3 }) doneAt: Date;
}
