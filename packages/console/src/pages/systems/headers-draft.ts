import { texts } from '../../texts/texts.js';

/** A static header. */
export interface HeaderRow {
  name: string;
  value: string;
}

/** Static headers that a person writes; without rows, what is stored stays. */
export interface HeadersDraft {
  rows: readonly HeaderRow[];
  /** The stored ones go. */
  removes: boolean;
}

/** The headers of the rows; undefined without any. Rows without a word are left out. */
export function headersOf({ rows }: HeadersDraft): Record<string, string> | undefined {
  const written = rows.filter((row) => !isEmpty(row));
  return written.length === 0
    ? undefined
    : Object.fromEntries(written.map(({ name, value }) => [name.trim(), value]));
}

/** What is wrong with each row: a header has a name and a value, and each name is there once. */
export function rowFaults({ rows, removes }: HeadersDraft): readonly Partial<HeaderRow>[] {
  const { parts, systems } = texts;
  const names = rows.map(({ name }) => name.trim().toLowerCase());
  return rows.map((row, index) => {
    if (removes || isEmpty(row)) {
      return {};
    }
    const name = names[index] ?? '';
    const isTwice = name !== '' && names.indexOf(name) < index;
    return {
      ...(name === '' && { name: parts.isRequired }),
      ...(isTwice && { name: systems.headerTwice }),
      ...(row.value === '' && { value: parts.isRequired }),
    };
  });
}

function isEmpty({ name, value }: HeaderRow): boolean {
  return name.trim() === '' && value === '';
}
