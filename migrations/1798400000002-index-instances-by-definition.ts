import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'process_instances';
const INDEX = 'ix_process_instances_definition';

/** The instances of one definition are found by when they started, for its statistics. */
export class IndexInstancesByDefinition1798400000002 implements MigrationInterface {
  readonly name = 'IndexInstancesByDefinition1798400000002';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off may have made it.
    if (!(await isThere(runner))) {
      await runner.query(`CREATE INDEX ${INDEX} ON ${TABLE} (definition_id, uuid)`);
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
