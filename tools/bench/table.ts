const NAME_WIDTH = 28;
const FIGURE_WIDTH = 14;

/** Prints a table whose first column is text and whose others are figures. */
export function printTable(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  console.log(`\n${title}`);
  for (const [name = '', ...figures] of [columns, ...rows]) {
    console.log(name.padEnd(NAME_WIDTH) + figures.map((figure) => figure.padStart(FIGURE_WIDTH)).join(''));
  }
}

/** Formats a figure, or a dash if it is not finite. */
export function figure(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-';
}

/** Returns the median; for an even count, the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
