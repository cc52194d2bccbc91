/**
 * The value that a part of them does not exceed.
 * @param part from above 0 to 1
 */
export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? Number.NaN;
}

/** The one in the middle. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
