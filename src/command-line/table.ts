import { printable } from '../common/printable.js';

const GAP = '  ';

/**
 * Rows as lines with aligned columns, for people.
 * @param rows cells by column; what is absent is shown as `-`
 */
export function table(headings: string[], rows: (string | number | null | undefined)[][]): string[] {
  const cells = [
    headings,
    ...rows.map((row) => row.map((cell) => printable(String(cell ?? '-').replaceAll(/\s+/g, ' ')))),
  ];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}
