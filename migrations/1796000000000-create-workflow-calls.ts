import {
  Table,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';

/** Calls of workflow runs to the outside. */
export class CreateWorkflowCalls1796000000000 implements MigrationInterface {
  readonly name = 'CreateWorkflowCalls1796000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'workflow_calls',
        columns: columns(runner),
        indices: [
          new TableIndex({
            name: 'ix_workflow_calls_order',
            columnNames: ['run_id', 'started_at', 'call_key'],
          }),
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('workflow_calls', true);
  }
}

function columns(runner: QueryRunner): TableColumnOptions[] {
  const isServer = runner.connection.options.type !== 'better-sqlite3';
  const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
  const varchar = (
    name: string,
    length: number,
    extra: Partial<TableColumnOptions> = {},
  ): TableColumnOptions => ({
    name,
    type: 'varchar',
    length: String(length),
    ...exact,
    ...extra,
  });
  return [
    varchar('run_id', 36, { isPrimary: true }),
    varchar('call_key', 191, { isPrimary: true }),
    varchar('kind', 8),
    varchar('state', 16),
    { name: 'attempt', type: 'integer' },
    { name: 'tries', type: 'integer' },
    { name: 'repeatable', type: 'integer' },
    { name: 'started_at', type: 'datetime', precision: 3 },
    { name: 'finished_at', type: 'datetime', precision: 3, isNullable: true },
    varchar('outcome', 64, { isNullable: true }),
    { name: 'usage', type: 'text', isNullable: true, ...exact },
    { name: 'request', type: 'json' },
    { name: 'request_bytes', type: 'integer' },
    { name: 'response', type: 'json', isNullable: true },
  ];
}
