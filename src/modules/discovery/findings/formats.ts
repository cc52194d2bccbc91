const SECOND_MS = 1_000;
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
const STEP = 1_024;

/** `842ms` below a second, else `2.3s`. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  return whole < SECOND_MS ? `${whole}ms` : `${(whole / SECOND_MS).toFixed(1)}s`;
}

/** Binary units with one decimal where there is one: `943.8KB`, `64MB`, `1.8GB`. */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  // What would be rounded to 1024 of a unit is 1 of the next.
  while (Math.round(value * 10) / 10 >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  return `${Math.round(value * 10) / 10}${UNITS[unit] ?? ''}`;
}
