import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'audit_events';
const INDICES: Readonly<Record<string, string[]>> = {
  ix_audit_events_app: ['app_id', 'id'],
  ix_audit_events_action: ['app_id', 'action', 'id'],
  ix_audit_events_outcome: ['app_id', 'outcome', 'id'],
  ix_audit_events_actor: ['app_id', 'actor_subject', 'id'],
  ix_audit_events_system_app: ['app_id', 'system_resource_id', 'id'],
};

/** Audit events are found over all versions of an application, by what they are narrowed by. */
export class IndexAudit1798200000001 implements MigrationInterface {
  readonly name = 'IndexAudit1798200000001';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
    const there = await indices(runner);
    const missing = Object.entries(INDICES).filter(([name]) => !there.has(name));
    if (isFile(runner)) {
      for (const [name, columns] of missing) {
        await runner.query(`CREATE INDEX ${name} ON ${TABLE} (${columns.join(', ')})`);
      }
    } else if (missing.length > 0) {
      // In one statement, which reads the table once.
      const added = missing.map(([name, columns]) => `ADD INDEX ${name} (${columns.join(', ')})`);
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
