import type { Connection } from './system.types.js';

/** The static headers of a system: the values as text to be sealed, and the names. Values are null where a package named headers only. */
export type HeaderColumns = Pick<Connection, 'headers' | 'headerNames'>;

/** Returns checked headers as they are stored: in the order of their names, so that equal headers are equal texts. */
export function headerColumns(headers: Readonly<Record<string, string>> | null | undefined): HeaderColumns {
  const members = Object.entries(headers ?? {}).toSorted(([one], [other]) => byName(one, other));
  return members.length === 0
    ? { headers: null, headerNames: null }
    : {
        headers: JSON.stringify(Object.fromEntries(members)),
        headerNames: namesText(Object.keys(headers ?? {})),
      };
}

/** Returns checked names as they are stored; null without any. */
export function namesText(names: readonly string[]): string | null {
  return names.length === 0 ? null : JSON.stringify(names.toSorted(byName));
}

/** Returns the names of stored headers; empty without any. */
export function headerNamesOf({ headerNames }: Pick<HeaderColumns, 'headerNames'>): string[] {
  return JSON.parse(headerNames ?? '[]') as string[];
}

/** Returns opened headers as calls send them; a value that was never set is empty. Undefined without headers. */
export function openedHeaders(columns: HeaderColumns): Record<string, string> | undefined {
  const values = JSON.parse(columns.headers ?? '{}') as Record<string, string>;
  const names = headerNamesOf(columns);
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, values[name] ?? '']));
}

function byName(one: string, other: string): number {
  return one.toLowerCase() < other.toLowerCase() ? -1 : 1;
}
