import { placedCondition, whereClause, type Condition, type Where } from './conditions.js';
import { sharedBy, SharedTransaction, type SqlExecutor } from '../groups/shared-transaction.js';
import {
  assignmentsOf,
  changeRows,
  changeStatement,
  deletion,
  rowChange,
  rowDeletion,
  sendChange,
  type RowChange,
} from './row-changes.js';
import { isEmbedded } from './row-locks.js';
import { Selection, orderClause, type Found } from './selection.js';
import { statementBatches } from './statement-batches.js';
import {
  bound,
  bytesOf,
  columnOf,
  shapeOf,
  type EntityClass,
  type Sharding,
  type SqlValue,
  type TableColumn,
  type TableShape,
} from './table-columns.js';

/** New values of columns. A function returns SQL instead of a value, such as `() => 'rev + 1'`. */
export type Changes<Row extends object> = {
  readonly [Property in keyof Row]?: Row[Property] | (() => string);
};

/**
 * A table for rows that many requests read and write. Statements are derived from the decorators of its entity. Rows are mapped
 * column by column without creating entities, which is faster (docs/adr/0010-tables.md).
 *
 *     const TOKENS = new Table(ProcessTokenEntity);
 *     const PLACE = TOKENS.select('id', 'visit');
 *     const place = await PLACE.first(manager, { instanceId, uuid });
 *
 * A condition with an empty list, `In([])`, matches no row and sends no statement.
 */
export class Table<Row extends object> {
  private readonly shape: TableShape;
  private readonly columns: readonly TableColumn[];
  private readonly names: string;
  private readonly tuple: string;

  /** @param sharding required for a sharded table: how properties determine the shard */
  constructor(entity: EntityClass<Row>, sharding?: Sharding<Row>) {
    this.shape = shapeOf(entity, sharding);
    this.columns = [...this.shape.columns.values()];
    this.names = this.columns.map(({ name }) => name).join(', ');
    this.tuple = `(${this.columns.map(() => '?').join(', ')})`;
  }

  select<Property extends keyof Row & string>(
    ...properties: Property[]
  ): Selection<Row, Pick<Row, Property>> {
    return new Selection(this.shape, properties);
  }

  selectAllBut<Property extends keyof Row & string = never>(
    ...properties: Property[]
  ): Selection<Row, Omit<Row, Property>> {
    const left: ReadonlySet<string> = new Set(properties);
    return new Selection(
      this.shape,
      [...this.shape.columns.keys()].filter((property) => !left.has(property)),
    );
  }

  /**
   * Inserts rows with few statements.
   * @param ignoresDuplicates skips rows with a unique value that exists already; servers also truncate values that are too long
   * @throws QueryFailedError for a duplicate, see `isDuplicate`
   */
  async insert(executor: SqlExecutor, rows: readonly Row[], ignoresDuplicates = false): Promise<void> {
    const ignoring = isEmbedded(executor.connection) ? 'INSERT OR IGNORE' : 'INSERT IGNORE';
    await this.add(executor, ignoresDuplicates ? ignoring : 'INSERT', rows);
  }

  /** Inserts rows with few statements. If a primary key exists already, updates one column of that row. */
  async put(executor: SqlExecutor, rows: readonly Row[], changed: keyof Row & string): Promise<void> {
    const { name } = columnOf(this.shape, changed);
    const onConflict = isEmbedded(executor.connection)
      ? ` ON CONFLICT DO UPDATE SET ${name} = excluded.${name}`
      : ` ON DUPLICATE KEY UPDATE ${name} = VALUES(${name})`;
    await this.add(executor, 'INSERT', rows, onConflict);
  }

  private async add(
    executor: SqlExecutor,
    verb: string,
    rows: readonly Row[],
    onConflict = '',
  ): Promise<void> {
    if (rows.length === 0) {
      return;
    }
    const into = `${verb} INTO ${this.shape.name} (${this.names}) VALUES `;
    const tuples = rows.map((row) => this.bound(row));
    const send = async (parts: readonly SqlValue[][][]): Promise<readonly void[]> => {
      for (const batch of statementBatches(parts.flat(), bytesOf)) {
        await execute(executor, into + batch.map(() => this.tuple).join(', ') + onConflict, batch.flat());
      }
      return [];
    };
    await (executor instanceof SharedTransaction
      ? executor.changeInGroup(into + onConflict, tuples, send)
      : send([tuples]));
  }

  /**
   * Inserts a row unless its primary key exists, and locks it until the transaction ends. Takes the lock for changes at once,
   * because two transactions that insert and then update would deadlock.
   */
  async ensure(executor: SqlExecutor, row: Row): Promise<void> {
    const [first] = this.columns.map(({ name }) => name);
    const onConflict = isEmbedded(executor.connection)
      ? 'ON CONFLICT DO NOTHING'
      : `ON DUPLICATE KEY UPDATE ${first} = ${first}`;
    await execute(
      executor,
      `INSERT INTO ${this.shape.name} (${this.names}) VALUES ${this.tuple} ${onConflict}`,
      this.bound(row),
    );
  }

  /**
   * Changes all rows that match the conditions.
   * @returns how many rows matched
   * @throws TypeError for an undefined value, which could mean NULL or no change
   */
  async update(executor: SqlExecutor, where: Where<Row>, changes: Changes<Row>): Promise<number> {
    const assignments = assignmentsOf(this.shape, changes);
    const shared = sharedBy(executor);
    const one = shared && rowChange(executor, this.shape, where, assignments);
    return shared === undefined || one === undefined
      ? this.change(executor, where, (condition) => changeStatement(this.shape, assignments, condition))
      : shared.changeInGroup(one.kind, one, (parts: readonly RowChange[]) =>
          changeRows(executor, this.shape, parts),
        );
  }

  /** Deletes all rows that match the conditions. @returns how many rows matched */
  async delete(executor: SqlExecutor, where: Where<Row>): Promise<number> {
    return this.change(executor, where, (condition) => ({
      sql: `DELETE FROM ${this.shape.name}${whereClause(condition)}`,
      values: condition.values,
    }));
  }

  /**
   * Deletes one row, together with those of other members of a group. Returns whether the row was there.
   * @param where must contain the `id`
   */
  async deleteOne(executor: SqlExecutor, where: Where<Row>): Promise<boolean> {
    const shared = sharedBy(executor);
    const one = shared && rowDeletion(executor, this.shape, where);
    const met =
      shared === undefined || one === undefined
        ? this.delete(executor, where)
        : shared.changeInGroup(one.kind, one, (parts: readonly RowChange[]) =>
            changeRows(executor, this.shape, parts, deletion),
          );
    return (await met) === 1;
  }

  /**
   * Deletes the first rows in an order.
   * @param where at least one condition, which is checked again when a row is deleted
   */
  async deleteFirst(
    executor: SqlExecutor,
    key: keyof Row & string,
    where: Where<Row>,
    { order, limit }: Required<Pick<Found<Row>, 'order' | 'limit'>>,
  ): Promise<number> {
    const { name: table } = this.shape;
    const { name } = columnOf(this.shape, key);
    return this.change(executor, where, (condition) => ({
      // Nested, because servers allow no LIMIT in an IN subquery. Repeats the condition, because a row may have changed.
      sql: `DELETE FROM ${table}${whereClause(condition)} AND ${name} IN (SELECT ${name} FROM (SELECT ${name} FROM ${table}${
        whereClause(condition) + orderClause(this.shape, order)
      } LIMIT ?) AS old)`,
      values: [...condition.values, ...condition.values, limit],
    }));
  }

  private async change(
    executor: SqlExecutor,
    where: Where<Row>,
    statement: (condition: Condition) => Condition,
  ): Promise<number> {
    const condition = placedCondition(executor, this.shape, where);
    return condition === null ? 0 : sendChange(executor, statement(condition));
  }

  private bound(row: Row): SqlValue[] {
    return this.columns.map((column) => bound(column, (row as Record<string, unknown>)[column.property]));
  }
}

/** Runs a statement that inserts rows. */
async function execute(executor: SqlExecutor, sql: string, values: SqlValue[]): Promise<void> {
  await (executor instanceof SharedTransaction ? executor.change(sql, values) : executor.query(sql, values));
}
