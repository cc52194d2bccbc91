import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMN = 'systems_usable_by';

/** A library can say apart which applications may use its systems in nodes of their own. */
export class AddSystemsUsableBy1797500003000 implements MigrationInterface {
  readonly name = 'AddSystemsUsableBy1797500003000';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
    if (!(await runner.hasColumn('builds', COLUMN))) {
      await runner.query(`ALTER TABLE builds ADD COLUMN ${COLUMN} json NULL`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE builds DROP COLUMN ${COLUMN}`);
  }
}
