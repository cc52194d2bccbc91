import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'builds';
const INDEX = 'ix_builds_version';

/** The builds of a version are found without reading all builds, for incidents that are narrowed by it. */
export class IndexBuilds1798300000001 implements MigrationInterface {
  readonly name = 'IndexBuilds1798300000001';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off may have made it.
    if (!(await isThere(runner))) {
      await runner.query(`CREATE INDEX ${INDEX} ON ${TABLE} (app_version_id, app_id)`);
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
