import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * Who used libraries before a use had to be allowed: whose builds and packages name them. What a library brings along (level 2
 * and more) was reached through that library only, and still is.
 */
const USERS = `
  SELECT DISTINCT library_build.app_id AS library_app_id, user_build.app_id AS user_app_id
  FROM build_libraries
  JOIN builds user_build ON user_build.build_id = build_libraries.build_id
  JOIN builds library_build ON library_build.build_id = build_libraries.library_build_id
  WHERE build_libraries.level = 1
  UNION
  SELECT DISTINCT dependency_app_id AS library_app_id, app_id AS user_app_id
  FROM version_dependencies WHERE dependency_type = 'LIB'`;

/**
 * Which applications may use a build as a library: `usableBy` of its package (`builds.usable_by`), and for builds of packages
 * without it the applications that used that library before (`library_users`).
 */
export class CreateLibraryUsers1797000001000 implements MigrationInterface {
  readonly name = 'CreateLibraryUsers1797000001000';

  async up(runner: QueryRunner): Promise<void> {
    // MySQL commits each DDL statement by itself: a start that was cut off must be able to go on.
    if (!(await runner.hasColumn('builds', 'usable_by'))) {
      await runner.query('ALTER TABLE builds ADD COLUMN usable_by json NULL');
    }
    await runner.createTable(new Table({ name: 'library_users', columns: columnsFor(runner) }), true);
    await runner.query('DELETE FROM library_users');
    await runner.query(`INSERT INTO library_users (library_app_id, user_app_id) ${USERS}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('library_users', true);
    await runner.query('ALTER TABLE builds DROP COLUMN usable_by');
  }
}

function columnsFor(runner: QueryRunner) {
  const isServer = runner.connection.options.type !== 'better-sqlite3';
  const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
  return ['library_app_id', 'user_app_id'].map((name) => ({
    name,
    type: 'varchar',
    length: '64',
    isPrimary: true,
    ...exact,
  }));
}
