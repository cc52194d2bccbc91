/** Outcome of a number of checks. */
export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/** The closing line of every test command: `N passed, N failed`, with `, N skipped` when something was skipped. */
export function tallyLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
