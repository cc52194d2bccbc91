import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'process_message_waits';
const COLUMN = 'only_key';
const INDEX = 'uq_process_message_waits_only';

/** Waits of which there is at most one for a message and a correlation, where a setting says so. */
export class AddOnlyWaits1798530000011 implements MigrationInterface {
  readonly name = 'AddOnlyWaits1798530000011';

  async up(runner: QueryRunner): Promise<void> {
    const exact = isFile(runner) ? '' : ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
    // The servers commit each DDL statement by itself: a start that was cut off may have made it.
    if (!(await runner.hasColumn(TABLE, COLUMN))) {
      await runner.query(`ALTER TABLE ${TABLE} ADD COLUMN ${COLUMN} varchar(64)${exact} NULL`);
    }
    if (!(await isThere(runner))) {
      await runner.query(`CREATE UNIQUE INDEX ${INDEX} ON ${TABLE} (${COLUMN})`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await isThere(runner)) {
      await runner.query(`DROP INDEX ${INDEX}${isFile(runner) ? '' : ` ON ${TABLE}`}`);
    }
    if (await runner.hasColumn(TABLE, COLUMN)) {
      await runner.query(`ALTER TABLE ${TABLE} DROP COLUMN ${COLUMN}`);
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
