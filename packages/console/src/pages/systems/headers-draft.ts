import { texts } from '../../texts/texts.js';

export interface HeaderRow {
  name: string;
  value: string;
}

/** Form values of static headers. Without rows, the stored ones are kept. */
export interface HeadersDraft {
  rows: readonly HeaderRow[];
  /** Remove the stored headers. */
  removes: boolean;
}

/** Returns the headers of non-empty rows, or undefined if there are none. */
export function headersOf({ rows }: HeadersDraft): Record<string, string> | undefined {
  const written = rows.filter((row) => !isEmpty(row));
  return written.length === 0
    ? undefined
    : Object.fromEntries(written.map(({ name, value }) => [name.trim(), value]));
}

/** Returns the faults of each row: a missing name or value, or a duplicate name. */
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
