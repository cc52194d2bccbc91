import { conditionOf, placed, whereClause, type Condition } from './conditions.js';
import { SharedTransaction, type SqlExecutor } from '../groups/shared-transaction.js';
import { statementBatches } from './statement-batches.js';
import { bound, bytesOf, columnOf, type SqlValue, type TableShape } from './table-columns.js';

/** A statement for several changes matched fewer rows, and does not report which. Never leaves `Database`. */
class AmbiguousChangeError extends Error {
  override readonly name = 'AmbiguousChangeError';
  constructor(table: string) {
    super(`Some of several changes to ${table} matched no row.`);
  }
}

export interface Assignments {
  expressions: ReadonlyMap<string, string>;
  values: ReadonlyMap<string, SqlValue>;
}

/** A change of one row, identified by its `id`, that can be sent together with others of the same kind. */
export interface RowChange extends Assignments {
  kind: string;
  id: SqlValue;
  /** Undefined if the statement need not name the shard. */
  shard: number | undefined;
  condition: Condition;
}

/** Converts new values of properties to assignments. @throws TypeError for an undefined value */
export function assignmentsOf(shape: TableShape, changes: Readonly<Record<string, unknown>>): Assignments {
  const expressions = new Map<string, string>();
  const values = new Map<string, SqlValue>();
  for (const [property, value] of Object.entries(changes)) {
    const column = columnOf(shape, property);
    if (typeof value === 'function') {
      expressions.set(column.name, (value as () => string)());
    } else if (value === undefined) {
      throw new TypeError(`The new value of ${column.name} is undefined.`);
    } else {
      values.set(column.name, bound(column, value));
    }
  }
  return { expressions, values };
}

/** Returns a change of the row with the `id` in the conditions; undefined without a single `id`, or if no row can match. */
export function rowChange(
  executor: SqlExecutor,
  shape: TableShape,
  where: Readonly<Record<string, unknown>>,
  assignments: Assignments,
): RowChange | undefined {
  const { id } = where;
  const place = placed(executor, shape, where);
  const condition = conditionOf(shape, place);
  if (condition === null || (typeof id !== 'number' && typeof id !== 'string')) {
    return undefined;
  }
  const { expressions, values } = assignments;
  const kind = ['UPDATE', shape.name, condition.sql, ...values.keys(), ...expressions].join('|');
  const { shard } = place;
  return { kind, id, shard: typeof shard === 'number' ? shard : undefined, condition, ...assignments };
}

/** Returns a deletion of one row, as `rowChange`. */
export function rowDeletion(
  executor: SqlExecutor,
  shape: TableShape,
  where: Readonly<Record<string, unknown>>,
): RowChange | undefined {
  const nothing = { expressions: new Map<string, string>(), values: new Map<string, SqlValue>() };
  const one = rowChange(executor, shape, where, nothing);
  return one && { ...one, kind: `DELETE|${one.kind}` };
}

/** Returns the statement that changes all rows that match a condition. */
export function changeStatement(
  shape: TableShape,
  { values, expressions }: Assignments,
  where: Condition,
): Condition {
  const assigned = [
    ...[...values.keys()].map((column) => `${column} = ?`),
    ...[...expressions].map(([column, expression]) => `${column} = ${expression}`),
  ];
  return {
    sql: `UPDATE ${shape.name} SET ${assigned.join(', ')}${whereClause(where)}`,
    values: [...values.values(), ...where.values],
  };
}

/**
 * Executes changes, or deletions, of one kind with few statements.
 * @returns the number of rows that each of them matched, 0 or 1
 * @throws AmbiguousChangeError when a statement with several changes matched fewer rows, because it does not report which. The error
 * breaks the group, and each member then runs in a transaction of its own.
 */
export async function changeRows(
  executor: SqlExecutor,
  shape: TableShape,
  changes: readonly RowChange[],
  statementOf = statement,
): Promise<number[]> {
  const met = new Map<RowChange, number>();
  for (const round of roundsOf(changes)) {
    for (const batch of statementBatches(round, ({ values }) => bytesOf([...values.values()]))) {
      const affected = await sendChange(executor, statementOf(shape, batch));
      if (affected !== batch.length && batch.length > 1) {
        throw new AmbiguousChangeError(shape.name);
      }
      batch.forEach((change) => met.set(change, affected / batch.length));
    }
  }
  return changes.map((change) => met.get(change) ?? 0);
}

/** Splits changes so that no statement has a row twice, which it would count once, such as two heartbeats of a job. */
function roundsOf(changes: readonly RowChange[]): RowChange[][] {
  const rounds: RowChange[][] = [];
  const before = new Map<SqlValue, number>();
  for (const change of changes) {
    const round = before.get(change.id) ?? 0;
    before.set(change.id, round + 1);
    (rounds[round] ??= []).push(change);
  }
  return rounds;
}

function statement(shape: TableShape, changes: readonly RowChange[]): Condition {
  const [first] = changes;
  if (first !== undefined && changes.length === 1) {
    return changeStatement(shape, first, first.condition);
  }
  const parts: Condition[] = [...(first?.values.keys() ?? [])].map((column) => assignment(column, changes));
  first?.expressions.forEach((expression, column) =>
    parts.push({ sql: `${column} = ${expression}`, values: [] }),
  );
  const rows = anyOf(changes);
  return {
    sql: `UPDATE ${shape.name} SET ${parts.map(({ sql }) => sql).join(', ')} WHERE ${rows.sql}`,
    values: [...parts, rows].flatMap(({ values }) => values),
  };
}

/** Returns the statement for deletions of one kind. */
export function deletion(shape: TableShape, changes: readonly RowChange[]): Condition {
  const rows = anyOf(changes);
  return { sql: `DELETE FROM ${shape.name} WHERE ${rows.sql}`, values: rows.values };
}

function anyOf(changes: readonly RowChange[]): Condition {
  const conditions = changes.map(({ condition }) => condition);
  const any = conditions.map(({ sql }) => `(${sql})`).join(' OR ');
  // Names the shards outside of the alternatives too. Otherwise Vitess would send the statement to all shards.
  const shards = changes.flatMap(({ shard }) => shard ?? []);
  return {
    sql: shards.length === 0 ? any : `shard IN (${shards.map(() => '?').join(', ')}) AND (${any})`,
    values: [...shards, ...conditions.flatMap(({ values }) => values)],
  };
}

function assignment(column: string, changes: readonly RowChange[]): Condition {
  const cases = changes.map(({ id, values }) => [id, values.get(column) ?? null] as const);
  const [first] = cases;
  return cases.every(([, value]) => value === first?.[1])
    ? { sql: `${column} = ?`, values: [first?.[1] ?? null] }
    : { sql: `${column} = CASE id${' WHEN ? THEN ?'.repeat(cases.length)} END`, values: cases.flat() };
}

/** Runs a statement that changes rows. @returns how many rows matched its conditions */
export async function sendChange(
  executor: SqlExecutor,
  { sql, values }: { sql: string; values: readonly (SqlValue | Buffer)[] },
): Promise<number> {
  if (executor instanceof SharedTransaction) {
    return executor.change(sql, values);
  }
  if (executor.queryRunner === undefined) {
    throw new TypeError('Rows can only be changed in a transaction.');
  }
  return (await executor.queryRunner.query(sql, [...values], true)).affected ?? 0;
}
