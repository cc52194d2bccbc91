import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'systems';
const OPTIONS = 'credential_options';
const SECRET = 'client_secret';
const SPARE = 'client_secret_spare';
/** Longest sealed value of the release before. */
const FORMER_LENGTH = 4_096;

/** Systems know API keys and private keys: what is known of a credential besides its secret, and room for longer secrets. */
export class AddCredentialOptions1797500000000 implements MigrationInterface {
  readonly name = 'AddCredentialOptions1797500000000';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
    if (!(await runner.hasColumn(TABLE, OPTIONS))) {
      await runner.query(`ALTER TABLE ${TABLE} ADD COLUMN ${OPTIONS} varchar(1024)${exact(runner)} NULL`);
    }
    await resize(runner, 'text');
  }

  async down(runner: QueryRunner): Promise<void> {
    // What the release before cannot use, and has no room for.
    await runner.query(`UPDATE ${TABLE} SET ${SECRET} = NULL WHERE ${OPTIONS} IS NOT NULL`);
    await runner.query(
      `UPDATE ${TABLE} SET authorization_type = 'NO_AUTH', connection_key = NULL WHERE authorization_type = 'API_KEY'`,
    );
    await resize(runner, `varchar(${FORMER_LENGTH})`);
    await runner.query(`ALTER TABLE ${TABLE} DROP COLUMN ${OPTIONS}`);
  }
}

async function resize(runner: QueryRunner, type: string): Promise<void> {
  if (isServer(runner)) {
    await runner.query(`ALTER TABLE ${TABLE} MODIFY COLUMN ${SECRET} ${type}${exact(runner)} NULL`);
    return;
  }
  // SQLite changes no type of a column, and building the table anew would cascade to the tools.
  await runner.query(`ALTER TABLE ${TABLE} ADD COLUMN ${SPARE} ${type} NULL`);
  await runner.query(`UPDATE ${TABLE} SET ${SPARE} = ${SECRET}`);
  await runner.query(`ALTER TABLE ${TABLE} DROP COLUMN ${SECRET}`);
  await runner.query(`ALTER TABLE ${TABLE} RENAME COLUMN ${SPARE} TO ${SECRET}`);
}

function isServer({ connection }: QueryRunner): boolean {
  return connection.options.type !== 'better-sqlite3';
}

function exact(runner: QueryRunner): string {
  return isServer(runner) ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : '';
}
