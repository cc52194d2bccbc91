import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** What applications and callers have used of their quotas, by window of time. */
export class CreateQuotaUses1797500002000 implements MigrationInterface {
  readonly name = 'CreateQuotaUses1797500002000';

  async up(runner: QueryRunner): Promise<void> {
    const isServer = runner.connection.options.type !== 'better-sqlite3';
    const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
    await runner.createTable(
      new Table({
        name: 'quota_uses',
        columns: [
          { name: 'id', type: 'varchar', length: '128', isPrimary: true, ...exact },
          { name: 'used', type: 'bigint' },
          { name: 'ends_at', type: 'datetime', precision: 3 },
        ],
        indices: [{ name: 'ix_quota_uses_end', columnNames: ['ends_at'] }],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('quota_uses', true);
  }
}
