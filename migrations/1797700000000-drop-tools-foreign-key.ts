import { TableForeignKey, type MigrationInterface, type QueryRunner } from 'typeorm';

const TABLE = 'tools';
const NAME = 'fk_tools_system';
const KEY = new TableForeignKey({
  name: NAME,
  columnNames: ['system_id'],
  referencedTableName: 'systems',
  referencedColumnNames: ['id'],
  onDelete: 'CASCADE',
  onUpdate: 'NO ACTION',
});
/** The same, for servers. */
const ADD = `ADD CONSTRAINT ${NAME} FOREIGN KEY (system_id) REFERENCES systems (id) ON DELETE CASCADE ON UPDATE NO ACTION`;

/**
 * Tools no longer go with their system by a cascade, which no binary log tells and groups of servers do not certify: the service deletes
 * them. Without the key a replica of the release before can still delete a system; nobody reads the tools that it leaves.
 */
export class DropToolsForeignKey1797700000000 implements MigrationInterface {
  readonly name = 'DropToolsForeignKey1797700000000';

  async up(runner: QueryRunner): Promise<void> {
    // The servers commit each DDL statement by itself: a start that was cut off begins anew here.
    if (await hasKey(runner)) {
      await (isFile(runner)
        ? runner.dropForeignKey(TABLE, NAME)
        : runner.query(`ALTER TABLE ${TABLE} DROP FOREIGN KEY ${NAME}`));
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM ${TABLE} WHERE system_id NOT IN (SELECT id FROM systems)`);
    if (!(await hasKey(runner))) {
      await (isFile(runner)
        ? runner.createForeignKey(TABLE, KEY)
        : runner.query(`ALTER TABLE ${TABLE} ${ADD}`));
    }
  }
}

function isFile({ connection }: QueryRunner): boolean {
  return connection.options.type === 'better-sqlite3';
}

async function hasKey(runner: QueryRunner): Promise<boolean> {
  return (await runner.getTable(TABLE))?.foreignKeys.some(({ name }) => name === NAME) ?? false;
}
