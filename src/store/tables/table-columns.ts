import { getMetadataArgsStorage, type ColumnType, type ValueTransformer } from 'typeorm';
import { toBoolean, toDate, toJson } from './column-values.js';

/** A value that all drivers bind in the same way. */
export type SqlValue = string | number | null;

export type EntityClass<Row extends object> = new () => Row;

/** A column with the mapping between its values and those of drivers. Null is not mapped. */
export interface TableColumn {
  readonly name: string;
  readonly property: string;
  readonly type: string;
  readonly toSql: (value: unknown) => SqlValue;
  /** Undefined if no driver needs a conversion. */
  readonly fromSql: ((value: unknown) => unknown) | undefined;
}

type Mapping = Pick<TableColumn, 'toSql' | 'fromSql'>;

const UNCHANGED: Mapping = { toSql: (value) => value as SqlValue, fromSql: undefined };
const MAPPINGS = new Map<ColumnType | undefined, Mapping>([
  ['boolean', { toSql: Number, fromSql: toBoolean }],
  ['datetime', { toSql: (value) => sqlTime(value as Date), fromSql: toDate }],
  ['simple-json', { toSql: JSON.stringify, fromSql: toJson }],
  // MySQL returns a value, MariaDB and the embedded file its JSON.
  [
    'json',
    { toSql: JSON.stringify, fromSql: (value) => (typeof value === 'string' ? toJson(value) : value) },
  ],
]);

/** Cache of the last formatted time, because the rows of a transaction usually have the same one. */
let formatted = { msecs: Number.NaN, text: '' };

/** Formats a time for datetime columns of every database: UTC with milliseconds, comparable as text. */
export function sqlTime(time: Date): string {
  const msecs = time.getTime();
  if (msecs !== formatted.msecs) {
    formatted = { msecs, text: time.toISOString().replace('T', ' ').replace('Z', '') };
  }
  return formatted.text;
}

/** Properties that determine the shard of a row, each with a function that returns the shard. */
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
 * Reads the table of an entity from its decorators.
 * @throws TypeError for a table with a column `shard` but without `sharding` (docs/architecture.md, Several shards)
 */
export function shapeOf<Row extends object>(entity: EntityClass<Row>, sharding?: Sharding<Row>): TableShape {
  const { tables, columns } = getMetadataArgsStorage();
  const name = tables.find(({ target }) => target === entity)?.name;
  if (name === undefined) {
    throw new TypeError(`${entity.name} has no table.`);
  }
  const own = columns.filter(({ target }) => target === entity);
  if (sharding === undefined && own.some(({ propertyName }) => propertyName === 'shard')) {
    throw new TypeError(`The table ${name} is sharded, so \`sharding\` is required.`);
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
            MAPPINGS.get(options.type) ?? UNCHANGED,
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

/** Returns the column of a property. @throws TypeError when the entity has no such property */
export function columnOf({ name, columns }: TableShape, property: string): TableColumn {
  const column = columns.get(property);
  if (column === undefined) {
    throw new TypeError(`The table ${name} has no column ${property}.`);
  }
  return column;
}

/** Converts a value of a column to the value that drivers bind. */
export function bound({ toSql }: TableColumn, value: unknown): SqlValue {
  return value === null || value === undefined ? null : toSql(value);
}

/** Estimates how many bytes of a statement the values take. */
export function bytesOf(values: readonly SqlValue[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 8),
    0,
  );
}
