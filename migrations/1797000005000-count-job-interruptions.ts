import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'runtime_jobs';
const INDEX = 'ix_runtime_jobs_due';

/** Runs that a failure of our own database ended are counted apart; jobs are found by when they were to be done. */
export class CountJobInterruptions1797000005000 implements MigrationInterface {
  readonly name = 'CountJobInterruptions1797000005000';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
    if (!(await runner.hasColumn(TABLE, 'interruptions'))) {
      await runner.query(`ALTER TABLE ${TABLE} ADD COLUMN interruptions integer NOT NULL DEFAULT 0`);
    }
    const table = await runner.getTable(TABLE);
    if (table?.indices.some(({ name }) => name === INDEX) !== true) {
      await runner.query(`CREATE INDEX ${INDEX} ON ${TABLE} (lane, due_at)`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex(TABLE, INDEX);
    await runner.query(`ALTER TABLE ${TABLE} DROP COLUMN interruptions`);
  }
}
