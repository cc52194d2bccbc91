import type { EntityManager } from 'typeorm';
import { cached } from '#engine/support';
import { prepared } from '../connection/prepared-statements.js';
import type { RawRow } from './column-values.js';
import type { SelectionPart } from './selection.js';
import type { SqlValue, TableColumn } from './table-columns.js';

type Parts<Rows extends object[]> = {
  readonly [Index in keyof Rows]: SelectionPart<Rows[Index]> | undefined;
};
type Read<Rows extends object[]> = { -readonly [Index in keyof Rows]: Rows[Index][] };

interface Shape {
  readonly sql: string;
  readonly places: readonly (readonly { readonly place: string; readonly property: string }[])[];
}

/** Limit of cached statements, because lists with variable numbers of filter values have any number of texts. */
const MAX_SHAPES = 100;
/** By the text of the parts, without values. */
const shapes = new Map<string, Shape>();

/**
 * Reads rows of several tables in one statement, as a consistent snapshot.
 *
 *     const [tokens, events] = await readTogether(manager, [TOKENS.part(manager, { instanceId }), EVENTS.part(manager, { instanceId })]);
 *
 * @param parts undefined parts are skipped
 * @returns the rows of each part, in no particular order
 */
export async function readTogether<Rows extends object[]>(
  manager: EntityManager,
  parts: Parts<Rows>,
): Promise<Read<Rows>> {
  const all = parts as readonly (SelectionPart<object> | undefined)[];
  const asked = all.filter((part) => part !== undefined);
  const { sql, places } = shapeOf(asked);
  const values = asked.flatMap((part): readonly SqlValue[] => part.values);
  const found: RawRow[][] = asked.map(() => []);
  for (const row of await manager.query<RawRow[]>(sql, values)) {
    const part = Number(row['part']);
    const read: RawRow = {};
    for (const { place, property } of places[part] ?? []) {
      read[property] = row[place];
    }
    found[part]?.push(read);
  }
  return all.map((part) => part?.rows(found[asked.indexOf(part)] ?? []) ?? []) as Read<Rows>;
}

function shapeOf(parts: readonly SelectionPart<object>[]): Shape {
  const key = parts.map(({ columns, from }) => columns.map(({ name }) => name).join() + from).join('|');
  if (shapes.size >= MAX_SHAPES) {
    return shapes.get(key) ?? unionOf(parts);
  }
  return cached(shapes, key, () => {
    const { sql, places } = unionOf(parts);
    return { sql: prepared(sql), places };
  });
}

/** Builds the statement. Columns of the same type share columns of the union, which have one type each. */
function unionOf(parts: readonly SelectionPart<object>[]): Shape {
  const placed = parts.map(({ columns }) => placesOf(columns));
  const names = [...new Set(placed.flatMap((columns) => [...columns.keys()]))];
  const selects = parts.map(({ from, isOrdered }, index) => {
    const columns = names.map((place) => `${placed[index]?.get(place)?.name ?? 'NULL'} AS ${place}`);
    const select = `SELECT ${[`${index} AS part`, ...columns].join(', ')}${from}`;
    return isOrdered ? `SELECT * FROM (${select}) AS part${index}` : select;
  });
  return {
    sql: selects.join(' UNION ALL '),
    places: placed.map((columns) => [...columns].map(([place, { property }]) => ({ place, property }))),
  };
}

function placesOf(columns: readonly TableColumn[]): Map<string, TableColumn> {
  const counts = new Map<string, number>();
  return new Map(
    columns.map((column) => {
      const type = column.type.replace('-', '_');
      const count = (counts.get(type) ?? 0) + 1;
      counts.set(type, count);
      return [`${type}_${count}`, column];
    }),
  );
}
