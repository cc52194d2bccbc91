import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Failed runs of a job are counted apart from those that ended with their process. */
export class CountJobFailures1795500000000 implements MigrationInterface {
  readonly name = 'CountJobFailures1795500000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE runtime_jobs ADD COLUMN failures integer NOT NULL DEFAULT 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE runtime_jobs DROP COLUMN failures');
  }
}
