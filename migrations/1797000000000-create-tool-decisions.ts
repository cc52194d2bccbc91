import { Table, type MigrationInterface, type QueryRunner, type TableColumnOptions } from 'typeorm';

const TABLE = 'tool_decisions';

/**
 * Who decided whether a tool may be called, and when: for each definition of a tool in all versions of an application, and on
 * each row of `tools`. What is off anywhere is off for the versions to come.
 */
export class CreateToolDecisions1797000000000 implements MigrationInterface {
  readonly name = 'CreateToolDecisions1797000000000';

  async up(runner: QueryRunner): Promise<void> {
    const { text, time } = rawTypes(runner);
    await runner.createTable(decisions(runner), true);
    await addColumn(runner, 'tools', 'decided_by', text);
    await addColumn(runner, 'tools', 'decided_at', time);
    await addColumn(runner, 'resource_definitions', 'tools_synchronised_at', time);
    // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
    await runner.query(`DELETE FROM ${TABLE}`);
    await runner.query(`
      INSERT INTO ${TABLE} (resource_definition_id, name, definition_hash, enabled, decided_by, decided_at)
      SELECT systems.resource_definition_id, tools.name, tools.definition_hash, MIN(tools.enabled), NULL, NULL
      FROM tools INNER JOIN systems ON systems.id = tools.system_id
      GROUP BY systems.resource_definition_id, tools.name, tools.definition_hash`);
    // By the application, because there is an index for it.
    await runner.query(`
      UPDATE resource_definitions SET tools_synchronised_at = (
        SELECT MIN(systems.tools_synchronised_at) FROM systems
        WHERE systems.app_id = resource_definitions.app_id
          AND systems.resource_definition_id = resource_definitions.id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE resource_definitions DROP COLUMN tools_synchronised_at');
    await runner.query('ALTER TABLE tools DROP COLUMN decided_at');
    await runner.query('ALTER TABLE tools DROP COLUMN decided_by');
    await runner.dropTable(TABLE, true);
  }
}

async function addColumn(runner: QueryRunner, table: string, name: string, type: string): Promise<void> {
  if (!(await runner.hasColumn(table, name))) {
    await runner.query(`ALTER TABLE ${table} ADD COLUMN ${name} ${type} NULL`);
  }
}

function isServer(runner: QueryRunner): boolean {
  return runner.connection.options.type !== 'better-sqlite3';
}

function rawTypes(runner: QueryRunner): { text: string; time: string } {
  const exact = isServer(runner) ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : '';
  return { text: `text${exact}`, time: 'datetime(3)' };
}

function decisions(runner: QueryRunner): Table {
  // Names of tools differ by case; SQLite compares so by itself.
  const exact = isServer(runner) ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
  const key = (name: string, length: string): TableColumnOptions => ({
    name,
    type: 'varchar',
    length,
    isPrimary: true,
    ...exact,
  });
  return new Table({
    name: TABLE,
    columns: [
      key('resource_definition_id', '36'),
      key('name', '128'),
      key('definition_hash', '64'),
      { name: 'enabled', type: 'boolean' },
      { name: 'decided_by', type: 'text', isNullable: true, ...exact },
      { name: 'decided_at', type: 'datetime', precision: 3, isNullable: true },
    ],
  });
}
