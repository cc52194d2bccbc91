import { FindOperator, In, type EntityManager, type DataSource, LessThan, MoreThanOrEqual } from 'typeorm';
import { isSharded } from '../shards.js';
import { columnOf, type SqlValue, type TableColumn, type TableShape } from './table-columns.js';
import type { SomeApps } from '../../platform/user/grant.js';
import { isEmbedded } from './row-locks.js';
import { firstUuidAt } from '../../platform/ordered-uuid.js';

/** Values of columns, or what the operators of TypeORM make of values; all conditions must hold. */
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
 * Conditions as SQL; null when no row can meet them, because one asks for a value out of none.
 * @throws TypeError for an undefined value, which would mean every row
 */
export function conditionOf(shape: TableShape, where: Readonly<Record<string, unknown>>): Condition | null {
  return everyOne(Object.keys(where).map((name) => compared(columnOf(shape, name), where[name])));
}

function everyOne(parts: readonly (Condition | null)[]): Condition | null {
  const met = parts.filter((part) => part !== null);
  return met.length < parts.length ? null : both(met);
}

/** In place of the shard, for the few statements that look into every shard, or change rows wherever they are. */
export const EVERY_SHARD = new FindOperator<number>('any', 0);

/**
 * The condition of a statement on a table. On a sharded table it has to name the shard: as `shard`, as `EVERY_SHARD`, or by a
 * property from which the shard follows. A database with one group of shards is not asked for it.
 * @throws TypeError when it names none, and as `conditionOf`
 */
export function placedCondition(
  manager: Pick<EntityManager, 'connection'>,
  shape: TableShape,
  where: Readonly<Record<string, unknown>>,
): Condition | null {
  return conditionOf(shape, placed(manager, shape, where));
}

/**
 * Conditions that name the shard, where they have to.
 * @throws TypeError when they name none
 */
export function placed(
  manager: Pick<EntityManager, 'connection'>,
  shape: TableShape,
  where: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (shape.sharding === undefined) {
    return where;
  }
  const telling = 'shard' in where ? 'shard' : Object.keys(shape.sharding).find((each) => tells(where[each]));
  if (telling === undefined) {
    throw new TypeError(`A statement on ${shape.name} names no shard.`);
  }
  const { shard, ...others } = where;
  const named = (): unknown =>
    telling === 'shard' ? shard : shardBy(shape.sharding?.[telling], where[telling]);
  return isSharded(manager) ? { ...others, shard: named() } : others;
}

function tells(wanted: unknown): boolean {
  return wanted instanceof FindOperator ? wanted.type === 'in' : wanted !== undefined && wanted !== null;
}

function shardBy(shardOf: ((value: never) => number) | undefined, wanted: unknown): unknown {
  return wanted instanceof FindOperator
    ? oneOrAny((wanted.value as never[]).map((value) => shardOf?.(value) ?? 0))
    : shardOf?.(wanted as never);
}

/** One shard where all are the same: a server of many then has the whole statement for one of them. */
export function oneOrAny(shards: readonly number[]): number | FindOperator<number> {
  const [first, ...others] = new Set(shards);
  return first !== undefined && others.length === 0 ? first : In([...new Set(shards)]);
}

export function both(parts: readonly Condition[]): Condition {
  const asked = parts.filter(({ sql }) => sql !== '');
  return { sql: asked.map(({ sql }) => sql).join(' AND '), values: asked.flatMap(({ values }) => values) };
}

/** The end of a statement that a condition bounds. */
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
      // A pattern is text, whatever the column holds.
      return { sql: `${name} LIKE ?`, values: [value as string] };
    default:
      return { sql: `${name} ${comparison(type)} ?`, values: [toSql(value)] };
  }
}

function comparison(type: string): string {
  const sql = COMPARISONS[type];
  if (sql === undefined) {
    throw new TypeError(`Tables do not know the operator ${type}.`);
  }
  return sql;
}

/**
 * That a column holds the id of one of these applications, as SQL in parentheses. Ids are compared exactly, on the servers by
 * the collation of their columns.
 * @param bind adds a value to the statement and gives what stands there for it
 */
function appCondition(
  dataSource: DataSource,
  column: string,
  { ids, patterns }: SomeApps,
  bind: (value: string) => string,
): string {
  const alternatives = patterns.map((pattern) =>
    // SQLite takes no account of case in LIKE. Its GLOB has the same wildcard as our patterns, which hold no `?` and `[`.
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
 * The same as a condition of a statement whose values are question marks; nothing for all applications.
 * @param apps null for all
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

/** By which times a list is narrowed (docs/contract.md, section 1). */
export interface TimeRange {
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

/** The last moment that every database takes. With an offset callers can write later ones, and some before the year 0. */
const LAST_MSECS = Date.UTC(9_999, 11, 31, 23, 59, 59, 999);

/** That a time is in a range: an operator for each end that is given. */
export function timesIn({ from, to }: TimeRange): FindOperator<Date>[] {
  return [
    ...(from === undefined ? [] : [MoreThanOrEqual(storableTime(from))]),
    ...(to === undefined ? [] : [LessThan(storableTime(to))]),
  ];
}

/**
 * The same of an id that tells the time, a UUID version 7.
 * @param awayMs how far that time is from the one that is asked for, at the most
 */
export function uuidsIn({ from, to }: TimeRange, awayMs = 0): FindOperator<string>[] {
  return [
    ...(from === undefined ? [] : [MoreThanOrEqual(firstUuidAt(new Date(from.getTime() - awayMs)))]),
    ...(to === undefined ? [] : [LessThan(firstUuidAt(new Date(to.getTime() + awayMs)))]),
  ];
}

/** Nothing was stored before 1970, so the nearest moment that can be stored asks for the same. */
export function storableTime(time: Date): Date {
  return new Date(Math.min(Math.max(time.getTime(), 0), LAST_MSECS));
}
