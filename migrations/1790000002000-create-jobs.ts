import {
  Table,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';

/** Background jobs. */
export class CreateJobs1790000002000 implements MigrationInterface {
  readonly name = 'CreateJobs1790000002000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'runtime_jobs',
        columns: columns(runner),
        indices: [
          new TableIndex({ name: 'ix_runtime_jobs_claim', columnNames: ['lane', 'available_at', 'id'] }),
          new TableIndex({ name: 'ix_runtime_jobs_lease', columnNames: ['lease'] }),
          new TableIndex({ name: 'ix_runtime_jobs_token', columnNames: ['instance_id', 'token_id'] }),
          new TableIndex({ name: 'uq_runtime_jobs_dedupe', columnNames: ['dedupe_key'], isUnique: true }),
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('runtime_jobs', true);
  }
}

function columns(runner: QueryRunner): TableColumnOptions[] {
  const isServer = runner.connection.options.type !== 'better-sqlite3';
  const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
  const varchar = (name: string, length: number, isNullable = false): TableColumnOptions => ({
    name,
    type: 'varchar',
    length: String(length),
    isNullable,
    ...exact,
  });
  return [
    { name: 'id', type: 'bigint', isPrimary: true },
    { name: 'shard', type: 'integer' },
    varchar('lane', 8),
    varchar('kind', 32),
    { name: 'due_at', type: 'datetime', precision: 3 },
    { name: 'available_at', type: 'datetime', precision: 3 },
    { name: 'attempts', type: 'integer' },
    varchar('lease', 36, true),
    { name: 'instance_id', type: 'bigint', isNullable: true },
    { name: 'token_id', type: 'bigint', isNullable: true },
    varchar('dedupe_key', 128, true),
    { name: 'payload', type: 'json' },
    { name: 'created_at', type: 'datetime', precision: 3 },
  ];
}
