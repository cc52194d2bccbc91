import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables of running processes that had no shard. */
const TABLES = [
  'process_families',
  'process_messages',
  'process_repeats',
  'workflow_calls',
  'workflow_runs',
] as const;

/**
 * Each row of the tables of running processes tells its shard. Rows of before have 0: a server that holds all rows is not asked for it, and
 * whoever brings them to several shards fills it in (deploy/vitess/README.md).
 */
export class AddShards1797900000000 implements MigrationInterface {
  readonly name = 'AddShards1797900000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
      if (!(await runner.hasColumn(table, 'shard'))) {
        await runner.query(`ALTER TABLE ${table} ADD COLUMN shard integer NOT NULL DEFAULT 0`);
      }
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`ALTER TABLE ${table} DROP COLUMN shard`);
    }
  }
}
