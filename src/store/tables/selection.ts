import { In } from 'typeorm';
import { allOf, placedCondition, whereClause, type Condition, type Where } from './conditions.js';
import type { RawRow } from './column-values.js';
import { sharedBy, type SqlExecutor } from '../groups/shared-transaction.js';
import { prepared } from '../connection/prepared-statements.js';
import { isEmbedded, lockClause, type RowLock } from './row-locks.js';
import { columnOf, type SqlValue, type TableColumn, type TableShape } from './table-columns.js';

/** Options of a query: order, limit, lock and additional conditions. */
export interface Found<Row extends object> {
  order?: { readonly [Property in keyof Row]?: 'ASC' | 'DESC' };
  limit?: number;
  lock?: RowLock;
  and?: Condition | undefined;
  /** Whether the same statement is sent often with different values, see `prepared`. */
  isRepeated?: boolean;
}

/** Part of a statement that reads rows of one table, see `readTogether`. */
export interface SelectionPart<Read> {
  readonly columns: readonly TableColumn[];
  readonly from: string;
  readonly values: readonly SqlValue[];
  /** Whether it has an order or a limit, which requires a subquery in a union. */
  readonly isOrdered: boolean;
  rows(raw: RawRow[]): Read[];
}

/** Reads a fixed selection of columns of a table, see `Table`. */
export class Selection<Row extends object, Read extends object> {
  private readonly chosen: readonly TableColumn[];
  private readonly mapped: readonly { property: string; fromSql: (value: unknown) => unknown }[];
  private readonly select: string;

  constructor(
    private readonly shape: TableShape,
    private readonly properties: readonly string[],
    private readonly more: readonly string[] = [],
  ) {
    this.chosen = properties.map((property) => columnOf(shape, property));
    this.mapped = this.chosen.flatMap(({ property, fromSql }) =>
      fromSql === undefined ? [] : [{ property, fromSql }],
    );
    this.select = `SELECT ${[this.columns(), ...more].join(', ')} FROM ${shape.name}`;
  }

  /** Adds an SQL expression to the selection. Its value is returned as the driver returns it. */
  with<Name extends string>(name: Name, expression: string): Selection<Row, Read & Record<Name, unknown>> {
    return new Selection(this.shape, this.properties, [...this.more, `${expression} AS ${name}`]);
  }

  /** Returns the columns for raw SQL, such as a join, whose result `rows` converts. */
  columns(table?: string): string {
    const prefix = table === undefined ? '' : `${table}.`;
    return this.chosen.map(({ name, property }) => `${prefix}${name} AS ${property}`).join(', ');
  }

  async find(executor: SqlExecutor, where: Where<Row>, found: Found<Row> = {}): Promise<Read[]> {
    const end = this.end(executor, where, found);
    if (end === null) {
      return [];
    }
    const lock = found.lock === undefined ? '' : lockClause(executor.connection, found.lock);
    const sql = this.select + end.sql + lock;
    return this.rows(
      await executor.query<RawRow[]>(found.isRepeated === true ? prepared(sql) : sql, end.values),
    );
  }

  /**
   * Returns the query of `find` as a part for `readTogether`, whose rows are in no particular order.
   * @param where conditions without an empty IN list
   * @param found `index` names the only index that may be used
   */
  part(
    executor: SqlExecutor,
    where: Where<Row>,
    { index, ...found }: Omit<Found<Row>, 'lock'> & { index?: string | undefined } = {},
  ): SelectionPart<Read> {
    const end = this.end(executor, where, found);
    if (end === null) {
      throw new TypeError('A part of a statement must not have an empty IN list.');
    }
    return {
      columns: this.chosen,
      from: ` FROM ${this.shape.name}${index === undefined ? '' : indexHint(executor, index)}${end.sql}`,
      values: end.values,
      isOrdered: found.order !== undefined || found.limit !== undefined,
      rows: (raw) => this.rows(raw),
    };
  }

  /** Returns the clauses after the table; null when no row can match the conditions. */
  private end(executor: SqlExecutor, where: Where<Row>, { order, limit, and }: Found<Row>): Condition | null {
    const given = placedCondition(executor, this.shape, where);
    if (given === null) {
      return null;
    }
    const condition = and === undefined ? given : allOf([given, and]);
    const ordered = whereClause(condition) + (order === undefined ? '' : orderClause(this.shape, order));
    return limit === undefined
      ? { sql: ordered, values: condition.values }
      : { sql: `${ordered} LIMIT ?`, values: [...condition.values, limit] };
  }

  /** Returns the first row that matches the conditions, or null. */
  async first(executor: SqlExecutor, where: Where<Row>, found?: Found<Row>): Promise<Read | null> {
    return (await this.find(executor, where, { isRepeated: true, ...found }))[0] ?? null;
  }

  /**
   * Returns the rows with one value of a column that this selection reads. Members of a group that do so at the same time share a
   * statement.
   */
  async findBy<Property extends keyof Row & keyof Read & string>(
    executor: SqlExecutor,
    property: Property,
    value: Row[Property] & (string | number),
    others: Where<Row> = {},
    lock?: RowLock,
  ): Promise<Read[]> {
    const locking = { isRepeated: true, ...(lock === undefined ? {} : { lock }) };
    const shared = sharedBy(executor);
    if (shared === undefined) {
      return this.find(executor, { ...others, [property]: value }, locking);
    }
    const kind = [this.select, property, lock, ...Object.entries(others)].join('|');
    return shared.readInGroup(kind, value, async (values: readonly (string | number)[]) => {
      const one: Where<Row> = { ...others, [property]: In(filledUp([...new Set(values)])) };
      const rows = await this.find(executor, one, locking);
      const found = new Map<string, Read[]>(values.map((each) => [String(each), []]));
      rows.forEach((row) => found.get(String(row[property]))?.push(row));
      return values.map((each) => found.get(String(each)) ?? []);
    });
  }

  /** Converts raw rows in place. */
  rows(raw: RawRow[]): Read[] {
    for (const row of raw) {
      for (const { property, fromSql } of this.mapped) {
        row[property] = row[property] === null ? null : fromSql(row[property]);
      }
    }
    return raw as Read[];
  }
}

/** Returns a hint that follows a table and its alias, and names the only index that may be used. */
export function indexHint({ connection }: Pick<SqlExecutor, 'connection'>, index: string): string {
  return isEmbedded(connection) ? ` INDEXED BY ${index}` : ` FORCE INDEX (${index})`;
}

/** Repeats the last value until the number of values is a power of two, which limits the number of different statements. */
export function filledUp<Value>(values: readonly Value[]): Value[] {
  const count = 2 ** Math.ceil(Math.log2(values.length));
  return [...values, ...Array.from({ length: count - values.length }, () => values.at(-1) as Value)];
}

/** Returns the ORDER BY clause. */
export function orderClause(shape: TableShape, order: Readonly<Record<string, unknown>>): string {
  const terms = Object.entries(order).map(
    ([property, direction]) => `${columnOf(shape, property).name} ${String(direction)}`,
  );
  return ` ORDER BY ${terms.join(', ')}`;
}
