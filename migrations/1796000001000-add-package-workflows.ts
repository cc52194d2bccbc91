import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The workflows of a package as they were checked, with who changed which node when. */
export class AddPackageWorkflows1796000001000 implements MigrationInterface {
  readonly name = 'AddPackageWorkflows1796000001000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE app_packages ADD COLUMN workflows json NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE app_packages DROP COLUMN workflows');
  }
}
