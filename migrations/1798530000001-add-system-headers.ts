import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = ['headers', 'header_names', 'timeout_ms'] as const;

/** Systems have static headers and a time-out of their own. */
export class AddSystemHeaders1798530000001 implements MigrationInterface {
  readonly name = 'AddSystemHeaders1798530000001';

  async up(runner: QueryRunner): Promise<void> {
    const isServer = runner.connection.options.type !== 'better-sqlite3';
    const text = isServer ? 'text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : 'text';
    for (const column of COLUMNS) {
      const type = column === 'timeout_ms' ? 'integer' : text;
      // MySQL commits each DDL statement, so an interrupted migration starts again here.
      if (!(await runner.hasColumn('systems', column))) {
        await runner.query(`ALTER TABLE systems ADD COLUMN ${column} ${type} NULL`);
      }
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const column of COLUMNS) {
      await runner.query(`ALTER TABLE systems DROP COLUMN ${column}`);
    }
  }
}
