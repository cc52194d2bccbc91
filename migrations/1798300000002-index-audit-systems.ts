import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'audit_events';
const INDEX = 'ix_audit_events_system_app';

/** Audit events of a system are found over all versions of an application. */
export class IndexAuditSystems1798300000002 implements MigrationInterface {
  readonly name = 'IndexAuditSystems1798300000002';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off may have made it.
    if (!(await isThere(runner))) {
      await runner.query(`CREATE INDEX ${INDEX} ON ${TABLE} (app_id, system_resource_id, id)`);
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
