import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMN = 'activated_at';

/** When a build was active for the first time. That it was withdrawn is its status. */
export class AddBuildStanding1798510000001 implements MigrationInterface {
  readonly name = 'AddBuildStanding1798510000001';

  async up(runner: QueryRunner): Promise<void> {
    if (!(await runner.hasColumn('builds', COLUMN))) {
      await runner.query(`ALTER TABLE builds ADD COLUMN ${COLUMN} datetime(3) NULL`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('builds', COLUMN)) {
      await runner.query(`ALTER TABLE builds DROP COLUMN ${COLUMN}`);
    }
  }
}
