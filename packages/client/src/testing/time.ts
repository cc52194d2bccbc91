const DURATION =
  /^P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/**
 * Adds a duration to a time by the UTC calendar.
 * @param duration ISO 8601, such as `P14D` or `PT30M`
 * @throws TypeError when the duration is invalid
 */
export function addDuration(from: Date, duration: string): Date {
  const parts = DURATION.exec(duration)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (parts === undefined) {
    throw new TypeError(`${duration} is not a duration such as P14D or PT30M.`);
  }
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts;
  const time = new Date(from);
  const day = time.getUTCDate();
  time.setUTCDate(1);
  time.setUTCFullYear(time.getUTCFullYear() + years, time.getUTCMonth() + months);
  time.setUTCDate(Math.min(day, lastDayOf(time)) + weeks * 7 + days);
  return new Date(time.getTime() + ((hours * 60 + minutes) * 60 + seconds) * 1_000);
}

function lastDayOf(month: Date): number {
  return new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 0)).getUTCDate();
}
