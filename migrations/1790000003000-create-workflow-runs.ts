import {
  Table,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';

/** Runs of workflows. */
export class CreateWorkflowRuns1790000003000 implements MigrationInterface {
  readonly name = 'CreateWorkflowRuns1790000003000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'workflow_runs',
        columns: columns(runner),
        indices: [
          index('uq_workflow_runs_key', ['run_key'], true),
          index('ix_workflow_runs_state', ['state', 'id']),
          index('ix_workflow_runs_process', ['process_instance_uuid', 'id']),
          index('ix_workflow_runs_parent', ['parent_run_id', 'id']),
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('workflow_runs', true);
  }
}

function index(name: string, columnNames: string[], isUnique = false): TableIndex {
  return new TableIndex({ name, columnNames, isUnique });
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
    varchar('id', 36, { isPrimary: true }),
    varchar('run_key', 128),
    { name: 'attempt', type: 'integer' },
    varchar('build_id', 64),
    varchar('app_id', 64, { isNullable: true }),
    varchar('workflow', 255),
    varchar('state', 16),
    varchar('origin', 16),
    varchar('process_instance_uuid', 36),
    { name: 'process_token_id', type: 'bigint', isNullable: true },
    varchar('parent_run_id', 36, { isNullable: true }),
    { name: 'started_at', type: 'datetime', precision: 3 },
    { name: 'finished_at', type: 'datetime', precision: 3, isNullable: true },
    { name: 'error', type: 'text', isNullable: true, ...exact },
    { name: 'nodes', type: 'json', isNullable: true },
    { name: 'output', type: 'json', isNullable: true },
  ];
}
