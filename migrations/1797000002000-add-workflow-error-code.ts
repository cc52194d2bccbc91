import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A workflow run can end with a BPMN error, and keeps the code of that. */
export class AddWorkflowErrorCode1797000002000 implements MigrationInterface {
  readonly name = 'AddWorkflowErrorCode1797000002000';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
    if (!(await runner.hasColumn('workflow_runs', 'error_code'))) {
      await runner.query('ALTER TABLE workflow_runs ADD COLUMN error_code varchar(255) NULL');
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE workflow_runs DROP COLUMN error_code');
  }
}
