import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'workflow_calls';
const INDEX = 'ix_workflow_calls_started';

/** Calls of one kind are found by when they were begun, for what models have used up since then. */
export class IndexCallsByStart1798400000003 implements MigrationInterface {
  readonly name = 'IndexCallsByStart1798400000003';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off may have made it.
    if (!(await isThere(runner))) {
      await runner.query(`CREATE INDEX ${INDEX} ON ${TABLE} (kind, started_at)`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await isThere(runner)) {
      await runner.query(`DROP INDEX ${INDEX}${isFile(runner) ? '' : ` ON ${TABLE}`}`);
    }
  }
}

function isFile({ connection }: QueryRunner): boolean {
  return connection.options.type === 'better-sqlite3';
}

async function isThere(runner: QueryRunner): Promise<boolean> {
  const rows: { Key_name: string }[] = await runner.query(
    isFile(runner)
      ? `SELECT name AS Key_name FROM sqlite_master WHERE type = 'index' AND tbl_name = '${TABLE}'`
      : `SHOW INDEX FROM ${TABLE}`,
  );
  return rows.some(({ Key_name: name }) => name === INDEX);
}
