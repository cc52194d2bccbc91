import { TableColumn, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Failed runs of a job are counted apart from those that ended with their process. */
export class CountJobFailures1795500000000 implements MigrationInterface {
  readonly name = 'CountJobFailures1795500000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.addColumn(
      'runtime_jobs',
      new TableColumn({ name: 'failures', type: 'integer', default: 0 }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropColumn('runtime_jobs', 'failures');
  }
}
