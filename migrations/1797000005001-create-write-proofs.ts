import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Rows that replicas write to see that the database takes writes. */
export class CreateWriteProofs1797000005001 implements MigrationInterface {
  readonly name = 'CreateWriteProofs1797000005001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'write_proofs',
        columns: [
          { name: 'slot', type: 'integer', isPrimary: true },
          { name: 'written_at', type: 'datetime', precision: 3 },
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('write_proofs', true);
  }
}
