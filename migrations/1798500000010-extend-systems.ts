import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'systems';
const OPTIONS = 'credential_options';
const SPARE = 'credential_options_spare';

/** Service accounts have a scope and further fields of the token request. */
export class ExtendSystems1798500000010 implements MigrationInterface {
  readonly name = 'ExtendSystems1798500000010';

  async up(runner: QueryRunner): Promise<void> {
    await resize(runner, 'text');
  }

  async down(runner: QueryRunner): Promise<void> {
    const isNew = `${OPTIONS} LIKE '%"scope":%' OR ${OPTIONS} LIKE '%"tokenParameters":%'`;
    await runner.query(`UPDATE ${TABLE} SET ${OPTIONS} = NULL, client_secret = NULL WHERE ${isNew}`);
    await resize(runner, 'varchar(1024)');
  }
}

async function resize(runner: QueryRunner, type: string): Promise<void> {
  if (isServer(runner)) {
    await runner.query(`ALTER TABLE ${TABLE} MODIFY COLUMN ${OPTIONS} ${type}${exact(runner)} NULL`);
    return;
  }
  // SQLite cannot change the type of a column, and a table rebuild would cascade to the tools.
  await runner.query(`ALTER TABLE ${TABLE} ADD COLUMN ${SPARE} ${type} NULL`);
  await runner.query(`UPDATE ${TABLE} SET ${SPARE} = ${OPTIONS}`);
  await runner.query(`ALTER TABLE ${TABLE} DROP COLUMN ${OPTIONS}`);
  await runner.query(`ALTER TABLE ${TABLE} RENAME COLUMN ${SPARE} TO ${OPTIONS}`);
}

function isServer({ connection }: QueryRunner): boolean {
  return connection.options.type !== 'better-sqlite3';
}

function exact(runner: QueryRunner): string {
  return isServer(runner) ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : '';
}
