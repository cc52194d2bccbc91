import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMN = 'caller_request_id';

/** The id that the caller of an audited request gave it. */
export class AddCallerRequestId1798530000010 implements MigrationInterface {
  readonly name = 'AddCallerRequestId1798530000010';

  async up(runner: QueryRunner): Promise<void> {
    if (!(await runner.hasColumn('audit_events', COLUMN))) {
      await runner.query(`ALTER TABLE audit_events ADD COLUMN ${COLUMN} varchar(64) NULL`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('audit_events', COLUMN)) {
      await runner.query(`ALTER TABLE audit_events DROP COLUMN ${COLUMN}`);
    }
  }
}
