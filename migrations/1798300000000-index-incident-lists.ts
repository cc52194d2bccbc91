import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'process_incidents';
const INDICES: Readonly<Record<string, string>> = {
  ix_process_incidents_type_state: 'type, state, uuid',
  ix_process_incidents_name_state: 'process_name, state, uuid',
  ix_process_incidents_build_state: 'build_id, state, uuid',
  ix_process_incidents_element_state: 'element, state, uuid',
};

/** A list of incidents that is narrowed by one thing does not walk through all that were ever closed. */
export class IndexIncidentLists1798300000000 implements MigrationInterface {
  readonly name = 'IndexIncidentLists1798300000000';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
    const there = await indices(runner);
    const missing = Object.entries(INDICES).filter(([name]) => !there.has(name));
    if (isFile(runner)) {
      for (const [name, columns] of missing) {
        await runner.query(`CREATE INDEX ${name} ON ${TABLE} (${columns})`);
      }
    } else if (missing.length > 0) {
      // In one statement, which reads the table once.
      const added = missing.map(([name, columns]) => `ADD INDEX ${name} (${columns})`);
      await runner.query(`ALTER TABLE ${TABLE} ${added.join(', ')}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const there = await indices(runner);
    for (const name of Object.keys(INDICES).filter((index) => there.has(index))) {
      await runner.query(`DROP INDEX ${name}${isFile(runner) ? '' : ` ON ${TABLE}`}`);
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
