import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** From where on ids of each kind are still to be given out. */
export class CreateIdBlocks1785000000000 implements MigrationInterface {
  readonly name = 'CreateIdBlocks1785000000000';

  async up(runner: QueryRunner): Promise<void> {
    const isServer = runner.connection.options.type !== 'better-sqlite3';
    const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
    const table = new Table({
      name: 'id_blocks',
      columns: [
        { name: 'name', type: 'varchar', length: '32', isPrimary: true, ...exact },
        { name: 'next', type: 'bigint' },
      ],
    });
    await runner.createTable(table, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('id_blocks', true);
  }
}
