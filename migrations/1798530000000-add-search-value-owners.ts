import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'process_search_values';
/** By column: its definition, and the index that has it next to the value. */
const COLUMNS = {
  app_id: { definition: "NOT NULL DEFAULT ''", index: 'ix_process_search_values_app' },
  starter: { definition: 'NULL', index: 'ix_process_search_values_starter' },
};

/** Whose instances have the values, so that a search reads only rows of instances that its caller may see. */
export class AddSearchValueOwners1798530000000 implements MigrationInterface {
  readonly name = 'AddSearchValueOwners1798530000000';

  async up(runner: QueryRunner): Promise<void> {
    const exact = isFile(runner) ? '' : 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin ';
    const there = await indices(runner);
    for (const [column, { definition, index }] of Object.entries(COLUMNS)) {
      // The servers commit each DDL statement by itself: a start that was cut off may have made it.
      if (!(await runner.hasColumn(TABLE, column))) {
        await runner.query(`ALTER TABLE ${TABLE} ADD COLUMN ${column} varchar(64) ${exact}${definition}`);
      }
      if (!there.has(index)) {
        await runner.query(`CREATE INDEX ${index} ON ${TABLE} (term, ${column}, uuid, instance_id, shard)`);
      }
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const there = await indices(runner);
    for (const [column, { index }] of Object.entries(COLUMNS)) {
      if (there.has(index)) {
        await runner.query(`DROP INDEX ${index}${isFile(runner) ? '' : ` ON ${TABLE}`}`);
      }
      if (await runner.hasColumn(TABLE, column)) {
        await runner.query(`ALTER TABLE ${TABLE} DROP COLUMN ${column}`);
      }
    }
  }
}

function isFile({ connection }: QueryRunner): boolean {
  return connection.options.type === 'better-sqlite3';
}

async function indices(runner: QueryRunner): Promise<Set<string>> {
  const rows: { Key_name: string }[] = await runner.query(
    isFile(runner)
      ? `SELECT name AS Key_name FROM sqlite_master WHERE type = 'index' AND tbl_name = '${TABLE}'`
      : `SHOW INDEX FROM ${TABLE}`,
  );
  return new Set(rows.map(({ Key_name: name }) => name));
}
