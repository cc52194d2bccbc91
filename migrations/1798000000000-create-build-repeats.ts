import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Which builds were made by calls with an `Idempotency-Key`. */
export class CreateBuildRepeats1798000000000 implements MigrationInterface {
  readonly name = 'CreateBuildRepeats1798000000000';

  async up(runner: QueryRunner): Promise<void> {
    const isServer = runner.connection.options.type !== 'better-sqlite3';
    const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
    await runner.createTable(
      new Table({
        name: 'build_repeats',
        columns: [
          { name: 'key_hash', type: 'varchar', length: '64', isPrimary: true, ...exact },
          { name: 'build_id', type: 'varchar', length: '36', ...exact },
          { name: 'created_at', type: 'datetime', precision: 3 },
        ],
        indices: [{ name: 'ix_build_repeats_created', columnNames: ['created_at'] }],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('build_repeats', true);
  }
}
