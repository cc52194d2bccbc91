import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Values of process data before and after people corrected them, sealed. */
export class CreateProcessCorrections1798510000000 implements MigrationInterface {
  readonly name = 'CreateProcessCorrections1798510000000';

  async up(runner: QueryRunner): Promise<void> {
    const isServer = runner.connection.options.type !== 'better-sqlite3';
    const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
    await runner.createTable(
      new Table({
        name: 'process_corrections',
        columns: [
          { name: 'id', type: 'varchar', length: '64', isPrimary: true, ...exact },
          { name: 'shard', type: 'integer' },
          { name: 'sealed', type: 'text' },
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('process_corrections', true);
  }
}
