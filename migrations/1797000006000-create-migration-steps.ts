import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Steps of an upgrade that need keys, which a migration has not: whoever migrates does them right after it. */
export class CreateMigrationSteps1797000006000 implements MigrationInterface {
  readonly name = 'CreateMigrationSteps1797000006000';

  async up(runner: QueryRunner): Promise<void> {
    const isServer = runner.connection.options.type !== 'better-sqlite3';
    const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
    await runner.createTable(
      new Table({
        name: 'migration_steps',
        columns: [
          { name: 'name', type: 'varchar', length: '64', isPrimary: true, ...exact },
          { name: 'done_at', type: 'datetime', precision: 3 },
        ],
      }),
      true,
    );
  }

  /** Secrets stay bound: an earlier release cannot open them, and they have to be entered again there. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('migration_steps', true);
  }
}
