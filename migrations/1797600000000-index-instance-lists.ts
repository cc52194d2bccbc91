import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'process_instances';
const ADDED: Readonly<Record<string, string[]>> = {
  ix_process_instances_app_state: ['app_id', 'state', 'uuid'],
  ix_process_instances_app_name_state: ['app_id', 'process_name', 'state', 'uuid'],
  ix_process_instances_name_state: ['process_name', 'state', 'uuid'],
  ix_process_instances_starter_state: ['starter', 'state', 'uuid'],
};
const REPLACED: Readonly<Record<string, string[]>> = {
  ix_process_instances_app: ['app_id', 'uuid'],
  ix_process_instances_name: ['process_name', 'uuid'],
  ix_process_instances_starter: ['starter', 'uuid'],
};

/** Lists of instances are found by all that they are narrowed by, whatever there is beside it. */
export class IndexInstanceLists1797600000000 implements MigrationInterface {
  readonly name = 'IndexInstanceLists1797600000000';

  async up(runner: QueryRunner): Promise<void> {
    await replace(runner, REPLACED, ADDED);
  }

  async down(runner: QueryRunner): Promise<void> {
    await replace(runner, ADDED, REPLACED);
  }
}

/** The servers commit each DDL statement by itself: what a start that was cut off has done is not done again. */
async function replace(
  runner: QueryRunner,
  dropped: Readonly<Record<string, string[]>>,
  added: Readonly<Record<string, string[]>>,
): Promise<void> {
  const isFile = runner.connection.options.type === 'better-sqlite3';
  const rows: { Key_name: string }[] = await runner.query(
    isFile
      ? `SELECT name AS Key_name FROM sqlite_master WHERE type = 'index' AND tbl_name = '${TABLE}'`
      : `SHOW INDEX FROM ${TABLE}`,
  );
  const there = new Set(rows.map(({ Key_name: name }) => name));
  for (const [name, columns] of Object.entries(added)) {
    if (!there.has(name)) {
      await runner.query(`CREATE INDEX ${name} ON ${TABLE} (${columns.join(', ')})`);
    }
  }
  for (const name of Object.keys(dropped).filter((index) => there.has(index))) {
    await runner.query(`DROP INDEX ${name}${isFile ? '' : ` ON ${TABLE}`}`);
  }
}
