import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = ['tls_ca', 'tls_certificate', 'tls_key'];

/** A system can have authorities of its own, and a client certificate with its sealed key. */
export class AddSystemTls1797000007000 implements MigrationInterface {
  readonly name = 'AddSystemTls1797000007000';

  async up(runner: QueryRunner): Promise<void> {
    const isServer = runner.connection.options.type !== 'better-sqlite3';
    const exact = isServer ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : '';
    for (const column of COLUMNS) {
      // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
      if (!(await runner.hasColumn('systems', column))) {
        await runner.query(`ALTER TABLE systems ADD COLUMN ${column} text${exact} NULL`);
      }
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const column of COLUMNS) {
      await runner.query(`ALTER TABLE systems DROP COLUMN ${column}`);
    }
  }
}
