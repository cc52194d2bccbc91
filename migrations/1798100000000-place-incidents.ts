import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'process_incidents';
const COLUMNS: Readonly<Record<string, number>> = {
  app_id: 64,
  build_id: 64,
  process_name: 255,
  element: 255,
  workflow_run_id: 36,
};
const INDICES: Readonly<Record<string, string[]>> = {
  ix_process_incidents_state: ['state', 'uuid'],
  ix_process_incidents_app_state: ['app_id', 'state', 'uuid'],
  ix_process_incidents_counts: ['state', 'app_id', 'process_name', 'type', 'element'],
};

/** Incidents tell where they are, so that they are found over all instances. Cleaning up fills in those that are open. */
export class PlaceIncidents1798100000000 implements MigrationInterface {
  readonly name = 'PlaceIncidents1798100000000';

  async up(runner: QueryRunner): Promise<void> {
    const exact = isFile(runner) ? '' : ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
    // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
    for (const [name, length] of Object.entries(COLUMNS)) {
      if (!(await runner.hasColumn(TABLE, name))) {
        await runner.query(`ALTER TABLE ${TABLE} ADD COLUMN ${name} varchar(${length})${exact} NULL`);
      }
    }
    const there = await indices(runner);
    for (const [name, columns] of Object.entries(INDICES)) {
      if (!there.has(name)) {
        await runner.query(`CREATE INDEX ${name} ON ${TABLE} (${columns.join(', ')})`);
      }
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const there = await indices(runner);
    for (const name of Object.keys(INDICES).filter((index) => there.has(index))) {
      await runner.query(`DROP INDEX ${name}${isFile(runner) ? '' : ` ON ${TABLE}`}`);
    }
    for (const name of Object.keys(COLUMNS)) {
      await runner.query(`ALTER TABLE ${TABLE} DROP COLUMN ${name}`);
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
