import {
  Table,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';

type Column = TableColumnOptions;
type Option = Pick<Column, 'isPrimary' | 'isNullable'>;

export interface TableDefinition {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly indices?: readonly TableIndex[];
}

/** A migration that creates tables with their indexes, and whose `down` drops them. */
export abstract class CreateTables implements MigrationInterface {
  abstract readonly name: string;
  abstract readonly tables: readonly TableDefinition[];

  async up(runner: QueryRunner): Promise<void> {
    for (const { name, columns, indices = [] } of this.tables) {
      const table = new Table({ name, columns: columnsFor(runner, columns), indices: [...indices] });
      // MySQL commits each DDL statement, so a migration that was interrupted continues with the first missing table.
      await runner.createTable(table, true);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of this.tables.toReversed()) {
      await runner.dropTable(name, true);
    }
  }
}

/** Removes charsets and collations for SQLite, which lacks them and compares texts case-sensitively by default. */
function columnsFor({ connection }: QueryRunner, columns: readonly Column[]): Column[] {
  return connection.options.type === 'better-sqlite3'
    ? columns.map(({ charset: _charset, collation: _collation, ...column }) => column)
    : [...columns];
}

/** Case-sensitive, for identifiers and names of tools. */
const EXACT = { charset: 'utf8mb4', collation: 'utf8mb4_bin' };

export const KEY: Option = { isPrimary: true };
export const OPTIONAL: Option = { isNullable: true };

export const varchar = (name: string, length: number, option?: Option): Column => ({
  name,
  type: 'varchar',
  length: String(length),
  ...EXACT,
  ...option,
});
export const text = (name: string, option?: Option): Column => ({ name, type: 'text', ...EXACT, ...option });
/** UTC, in milliseconds. */
export const time = (name: string, option?: Option): Column => ({
  name,
  type: 'datetime',
  precision: 3,
  ...option,
});
export const integer = (name: string, option?: Option): Column => ({ name, type: 'integer', ...option });
export const bigint = (name: string, option?: Option): Column => ({ name, type: 'bigint', ...option });
export const boolean = (name: string, option?: Option): Column => ({ name, type: 'boolean', ...option });
export const json = (name: string, option?: Option): Column => ({ name, type: 'json', ...option });

export const index = (name: string, columnNames: string[]): TableIndex =>
  new TableIndex({ name, columnNames });
export const unique = (name: string, columnNames: string[]): TableIndex =>
  new TableIndex({ name, columnNames, isUnique: true });
