import { FindOperator, In, type EntityManager, type DataSource, LessThan, MoreThanOrEqual } from 'typeorm';
import { isSharded } from '../shards.js';
import { columnOf, type SqlValue, type TableColumn, type TableShape } from './table-columns.js';
import type { SomeApps } from '../../platform/user/grant.js';
import { isEmbedded } from './row-locks.js';
import { firstUuidAt } from '../../platform/ordered-uuid.js';

/** Conditions on columns: values, or operators of TypeORM. All of them must hold. */
export type Where<Row extends object> = {
  readonly [Property in keyof Row]?: Row[Property] | FindOperator<NonNullable<Row[Property]> | string>;
};

export interface Condition {
  sql: string;
  values: SqlValue[];
}

const COMPARISONS: Readonly<Record<string, string>> = {
  lessThan: '<',
  lessThanOrEqual: '<=',
  moreThan: '>',
  moreThanOrEqual: '>=',
};

/**
 * Converts conditions to SQL. Returns null when no row can match, because an IN list is empty.
 * @throws TypeError for an undefined value, which would match every row
 */
export function conditionOf(shape: TableShape, where: Readonly<Record<string, unknown>>): Condition | null {
  return everyOne(Object.keys(where).map((name) => compared(columnOf(shape, name), where[name])));
}

function everyOne(parts: readonly (Condition | null)[]): Condition | null {
  const met = parts.filter((part) => part !== null);
  return met.length < parts.length ? null : allOf(met);
}

/** Replaces the shard in the few statements that use all shards. */
export const EVERY_SHARD = new FindOperator<number>('any', 0);

/**
 * Returns the condition of a statement on a table. On a sharded table it must name the shard: as `shard`, as `EVERY_SHARD`, or
 * by a property that determines the shard. The SQL contains the shard only with several groups of shards.
 * @throws TypeError when it names no shard, and as `conditionOf`
 */
export function placedCondition(
  manager: Pick<EntityManager, 'connection'>,
  shape: TableShape,
  where: Readonly<Record<string, unknown>>,
): Condition | null {
  return conditionOf(shape, placed(manager, shape, where));
}

/**
 * Adds the shard to the conditions if the database has several groups of shards.
 * @throws TypeError when the conditions on a sharded table name no shard
 */
export function placed(
  manager: Pick<EntityManager, 'connection'>,
  shape: TableShape,
  where: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (shape.sharding === undefined) {
    return where;
  }
  const key =
    'shard' in where ? 'shard' : Object.keys(shape.sharding).find((each) => determinesShard(where[each]));
  if (key === undefined) {
    throw new TypeError(`A statement on ${shape.name} names no shard.`);
  }
  const { shard, ...others } = where;
  const named = (): unknown => (key === 'shard' ? shard : shardBy(shape.sharding?.[key], where[key]));
  return isSharded(manager) ? { ...others, shard: named() } : others;
}

function determinesShard(wanted: unknown): boolean {
  return wanted instanceof FindOperator ? wanted.type === 'in' : wanted !== undefined && wanted !== null;
}

function shardBy(shardOf: ((value: never) => number) | undefined, wanted: unknown): unknown {
  return wanted instanceof FindOperator
    ? oneOrAny((wanted.value as never[]).map((value) => shardOf?.(value) ?? 0))
    : shardOf?.(wanted as never);
}

/** Returns one shard if all are equal, so that the statement is sent to one server, otherwise a list. */
export function oneOrAny(shards: readonly number[]): number | FindOperator<number> {
  const [first, ...others] = new Set(shards);
  return first !== undefined && others.length === 0 ? first : In([...new Set(shards)]);
}

/** Combines conditions with AND. */
export function allOf(parts: readonly Condition[]): Condition {
  const present = parts.filter(({ sql }) => sql !== '');
  return {
    sql: present.map(({ sql }) => sql).join(' AND '),
    values: present.flatMap(({ values }) => values),
  };
}

/** Returns the WHERE clause for a condition; empty without one. */
export function whereClause({ sql }: Condition): string {
  return sql === '' ? '' : ` WHERE ${sql}`;
}

function compared(column: TableColumn, wanted: unknown): Condition | null {
  if (wanted instanceof FindOperator) {
    return operated(column, wanted as FindOperator<unknown>);
  }
  if (wanted === undefined) {
    throw new TypeError(`The condition of ${column.name} is undefined.`);
  }
  return wanted === null
    ? { sql: `${column.name} IS NULL`, values: [] }
    : { sql: `${column.name} = ?`, values: [column.toSql(wanted)] };
}

function operated(column: TableColumn, { type, value }: FindOperator<unknown>): Condition | null {
  const { name, toSql } = column;
  switch (type) {
    case 'in': {
      const values = (value as unknown[]).map(toSql);
      return values.length === 0 ? null : { sql: `${name} IN (${values.map(() => '?').join(', ')})`, values };
    }
    case 'and':
      return everyOne((value as unknown[]).map((each) => compared(column, each)));
    case 'any':
      return { sql: '', values: [] };
    case 'like':
      // A pattern is always text, regardless of the type of the column.
      return { sql: `${name} LIKE ?`, values: [value as string] };
    default:
      return { sql: `${name} ${comparison(type)} ?`, values: [toSql(value)] };
  }
}

function comparison(type: string): string {
  const sql = COMPARISONS[type];
  if (sql === undefined) {
    throw new TypeError(`Tables do not support the operator ${type}.`);
  }
  return sql;
}

/**
 * Returns SQL in parentheses that matches the ids of these applications. Ids are compared exactly; on servers the collation of
 * the columns ensures that.
 * @param bind adds a value to the statement and returns its placeholder
 */
function appCondition(
  dataSource: DataSource,
  column: string,
  { ids, patterns }: SomeApps,
  bind: (value: string) => string,
): string {
  const alternatives = patterns.map((pattern) =>
    // LIKE ignores case in SQLite. GLOB has the same wildcard as the patterns, which never contain `?` or `[`.
    isEmbedded(dataSource)
      ? `${column} GLOB ${bind(pattern)}`
      : `${column} LIKE ${bind(likePattern(pattern))} ESCAPE '!'`,
  );
  if (ids.size > 0) {
    alternatives.push(`${column} IN (${[...ids].map(bind).join(', ')})`);
  }
  return `(${alternatives.join(' OR ') || '1 = 0'})`;
}

/**
 * Returns the condition that a column has the id of one of these applications.
 * @param apps null for all applications, without a condition
 */
export function inApps(
  { connection }: Pick<EntityManager, 'connection'>,
  column: string,
  apps: SomeApps | null,
): Condition {
  if (apps === null) {
    return { sql: '', values: [] };
  }
  const values: string[] = [];
  const sql = appCondition(connection, column, apps, (value) => {
    values.push(value);
    return '?';
  });
  return { sql, values };
}

function likePattern(pattern: string): string {
  return pattern.replaceAll(/[!%_]/g, '!$&').replaceAll('*', '%');
}

/** Time range that filters a list (docs/contract.md, section 1). */
export interface TimeRange {
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

/** Latest time that every database can store. Callers can send later times, and times before the year 0, by using an offset. */
const LAST_MSECS = Date.UTC(9_999, 11, 31, 23, 59, 59, 999);

/** Returns an operator for each bound of the range that is set. */
export function timesIn({ from, to }: TimeRange): FindOperator<Date>[] {
  return [
    ...(from === undefined ? [] : [MoreThanOrEqual(storableTime(from))]),
    ...(to === undefined ? [] : [LessThan(storableTime(to))]),
  ];
}

/**
 * As `timesIn`, for ids that contain a time (UUID version 7).
 * @param awayMs maximum difference between the time in the id and the filtered time
 */
export function uuidsIn({ from, to }: TimeRange, awayMs = 0): FindOperator<string>[] {
  return [
    ...(from === undefined ? [] : [MoreThanOrEqual(firstUuidAt(new Date(from.getTime() - awayMs)))]),
    ...(to === undefined ? [] : [LessThan(firstUuidAt(new Date(to.getTime() + awayMs)))]),
  ];
}

/** Returns the nearest time that a database can store. Filters give the same result, because nothing was stored before 1970. */
export function storableTime(time: Date): Date {
  return new Date(Math.min(Math.max(time.getTime(), 0), LAST_MSECS));
}
