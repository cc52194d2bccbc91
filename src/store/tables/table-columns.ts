import { getMetadataArgsStorage, type ColumnType, type ValueTransformer } from 'typeorm';
import { toBoolean, toDate, toJson } from './column-values.js';

/** What all drivers bind alike. */
export type SqlValue = string | number | null;

export type EntityClass<Row extends object> = new () => Row;

/** A column, and how its values become what drivers bind and back. Null is null on both sides and is not mapped. */
export interface TableColumn {
  readonly name: string;
  readonly property: string;
  readonly type: string;
  readonly toSql: (value: unknown) => SqlValue;
  /** Undefined where every driver gives the value as it is. */
  readonly fromSql: ((value: unknown) => unknown) | undefined;
}

type Mapping = Pick<TableColumn, 'toSql' | 'fromSql'>;

const ALIKE: Mapping = { toSql: (value) => value as SqlValue, fromSql: undefined };
const MAPPINGS = new Map<ColumnType | undefined, Mapping>([
  ['boolean', { toSql: Number, fromSql: toBoolean }],
  ['datetime', { toSql: (value) => sqlTime(value as Date), fromSql: toDate }],
  ['simple-json', { toSql: JSON.stringify, fromSql: toJson }],
  // MySQL gives a value, MariaDB and the embedded file its JSON.
  [
    'json',
    { toSql: JSON.stringify, fromSql: (value) => (typeof value === 'string' ? toJson(value) : value) },
  ],
]);

/** The last time that was written: the rows of one transaction mostly have the same one. */
let written = { msecs: Number.NaN, text: '' };

/** A time as datetime columns of every database take it: UTC with milliseconds, comparable as text. */
export function sqlTime(time: Date): string {
  const msecs = time.getTime();
  if (msecs !== written.msecs) {
    written = { msecs, text: time.toISOString().replace('T', ' ').replace('Z', '') };
  }
  return written.text;
}

/** From the values of which properties the shard of a row follows. */
export type Sharding<Row extends object> = {
  readonly [Property in keyof Row]?: (value: NonNullable<Row[Property]>) => number;
};

export interface TableShape {
  readonly name: string;
  readonly columns: ReadonlyMap<string, TableColumn>;
  /** Undefined for a table that is not sharded. */
  readonly sharding?: Readonly<Record<string, (value: never) => number>> | undefined;
}

/**
 * The table of an entity, as its decorators state it.
 * @throws TypeError for a table with a column `shard` of which nobody says how a statement names it (docs/architecture.md, Several shards)
 */
export function shapeOf<Row extends object>(entity: EntityClass<Row>, sharding?: Sharding<Row>): TableShape {
  const { tables, columns } = getMetadataArgsStorage();
  const name = tables.find(({ target }) => target === entity)?.name;
  if (name === undefined) {
    throw new TypeError(`${entity.name} names no table.`);
  }
  const own = columns.filter(({ target }) => target === entity);
  if (sharding === undefined && own.some(({ propertyName }) => propertyName === 'shard')) {
    throw new TypeError(`The table ${name} is sharded: say from what the shard of a row follows.`);
  }
  return {
    name,
    sharding: sharding as TableShape['sharding'],
    columns: new Map(
      own.map(({ propertyName, options }) => [
        propertyName,
        {
          name: options.name ?? propertyName,
          property: propertyName,
          type: String(options.type),
          ...transformed(
            MAPPINGS.get(options.type) ?? ALIKE,
            options.transformer as ValueTransformer | undefined,
          ),
        },
      ]),
    ),
  };
}

function transformed({ toSql, fromSql }: Mapping, transformer: ValueTransformer | undefined): Mapping {
  return transformer === undefined
    ? { toSql, fromSql }
    : {
        toSql: (value) => toSql(transformer.to(value)),
        fromSql: (value) => transformer.from(fromSql === undefined ? value : fromSql(value)) as unknown,
      };
}

/** @throws TypeError when the entity has no such property */
export function columnOf({ name, columns }: TableShape, property: string): TableColumn {
  const column = columns.get(property);
  if (column === undefined) {
    throw new TypeError(`The table ${name} has no column ${property}.`);
  }
  return column;
}

/** A value of a column as drivers bind it. */
export function bound({ toSql }: TableColumn, value: unknown): SqlValue {
  return value === null || value === undefined ? null : toSql(value);
}

/** About how many bytes of a statement values take. */
export function bytesOf(values: readonly SqlValue[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 8),
    0,
  );
}
