import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Systems know when their tools are to be read again. */
export class AddToolsDueAt1798520000000 implements MigrationInterface {
  readonly name = 'AddToolsDueAt1798520000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE systems ADD COLUMN tools_due_at datetime(3) NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE systems DROP COLUMN tools_due_at');
  }
}
