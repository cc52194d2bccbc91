import { Table, TableIndex, type MigrationInterface, type QueryRunner } from 'typeorm';

/** By which values of their data instances are found, of processes that say so. */
export class CreateSearchValues1798400000001 implements MigrationInterface {
  readonly name = 'CreateSearchValues1798400000001';

  async up(runner: QueryRunner): Promise<void> {
    const isServer = runner.connection.options.type !== 'better-sqlite3';
    const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
    await runner.createTable(
      new Table({
        name: 'process_search_values',
        columns: [
          { name: 'instance_id', type: 'bigint', isPrimary: true },
          { name: 'member', type: 'integer', isPrimary: true },
          { name: 'shard', type: 'integer' },
          { name: 'uuid', type: 'varchar', length: '36', ...exact },
          { name: 'term', type: 'varchar', length: '64', isNullable: true, ...exact },
        ],
        indices: [
          new TableIndex({
            name: 'ix_process_search_values_term',
            columnNames: ['term', 'uuid', 'instance_id', 'shard'],
          }),
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('process_search_values', true);
  }
}
