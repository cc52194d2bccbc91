import {
  Table,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';

const TABLE = 'reviewed_tools';

/**
 * Tools as they were when something was last decided about them. Nothing is known of decisions about definitions that were replaced
 * before.
 */
export class CreateReviewedTools1798400000000 implements MigrationInterface {
  readonly name = 'CreateReviewedTools1798400000000';

  async up(runner: QueryRunner): Promise<void> {
    const indices = [new TableIndex({ name: 'ix_reviewed_tools_system', columnNames: ['system_id'] })];
    await runner.createTable(new Table({ name: TABLE, columns: columnsFor(runner), indices }), true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable(TABLE, true);
  }
}

function columnsFor(runner: QueryRunner): TableColumnOptions[] {
  // Ids differ by case; SQLite compares so by itself.
  const isServer = runner.connection.options.type !== 'better-sqlite3';
  const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
  const varchar = (name: string, length: string, more: Partial<TableColumnOptions> = {}) => ({
    name,
    type: 'varchar',
    length,
    ...exact,
    ...more,
  });
  const text = (name: string, isNullable: boolean) => ({ name, type: 'text', isNullable, ...exact });
  return [
    varchar('tool_id', '36', { isPrimary: true }),
    varchar('system_id', '36'),
    varchar('title', '255', { isNullable: true }),
    text('description', false),
    text('input_schema', false),
    text('output_schema', true),
    text('annotations', true),
    varchar('definition_hash', '64'),
    { name: 'enabled', type: 'boolean' },
    text('decided_by', true),
    { name: 'decided_at', type: 'datetime', precision: 3, isNullable: true },
  ];
}
