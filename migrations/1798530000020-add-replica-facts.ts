import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = { service_release: 'varchar(32)', settings_hash: 'varchar(22)' };

/** Release and settings of the replica that a row of `write_proofs` is of. */
export class AddReplicaFacts1798530000020 implements MigrationInterface {
  readonly name = 'AddReplicaFacts1798530000020';

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, type] of Object.entries(COLUMNS)) {
      if (!(await runner.hasColumn('write_proofs', name))) {
        await runner.query(`ALTER TABLE write_proofs ADD COLUMN ${name} ${type} NULL`);
      }
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of Object.keys(COLUMNS)) {
      if (await runner.hasColumn('write_proofs', name)) {
        await runner.query(`ALTER TABLE write_proofs DROP COLUMN ${name}`);
      }
    }
  }
}
