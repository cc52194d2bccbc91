/** Parts of an ISO 8601 duration. Only the seconds can have a fraction. */
export interface IsoDuration {
  readonly years: number;
  readonly months: number;
  readonly weeks: number;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
}

/** A repeating interval, such as `R5/PT1M`. */
export interface IsoCycle {
  /** Number of repetitions; null means unlimited. */
  readonly repetitions: number | null;
  readonly interval: IsoDuration;
}

const SECOND_MS = 1_000;
/** Longest duration, so that the resulting date keeps a four-digit year. */
export const MAX_DURATION_YEARS = 100;
/** As {@link addDuration} counts them from 1970 on. */
const MAX_DURATION_MS = Date.UTC(1970 + MAX_DURATION_YEARS, 0);
const PART = String.raw`(\d{1,9})`;
const DURATION = new RegExp(
  `^P(?=.)(?:${PART}Y)?(?:${PART}M)?(?:${PART}W)?(?:${PART}D)?(?:T(?=.)(?:${PART}H)?(?:${PART}M)?(?:(\\d{1,9}(?:[.,]\\d{1,3})?)S)?)?$`,
);
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,3})\d*)?)?([Zz]|[+-]\d{2}:?\d{2})?$/;
/** Seconds field during a leap second (RFC 3339, section 5.7). */
const LEAP_SECOND = '60';
const CYCLE = /^R(\d{0,6})\/(P.+)$/;

/** Parses a duration such as `P1DT2H30M`. Returns undefined if it is not ISO 8601 or has a fraction of anything but seconds. */
export function parseDuration(text: string): IsoDuration | undefined {
  const match = DURATION.exec(text.trim());
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = (match ?? [])
    .slice(1)
    .map((part: string | undefined) => Number((part ?? '0').replace(',', '.')));
  return match === null ? undefined : { years, months, weeks, days, hours, minutes, seconds };
}

/** Parses a duration of at most `MAX_DURATION_YEARS`; returns undefined for anything else. */
export function parseBoundedDuration(text: string): IsoDuration | undefined {
  const duration = parseDuration(text);
  return duration && addDuration(0, duration) <= MAX_DURATION_MS ? duration : undefined;
}

/**
 * Adds a duration to a time, in UTC. A day that the month does not have becomes its last day.
 * @param from epoch milliseconds
 * @returns epoch milliseconds; NaN beyond the range of dates
 */
export function addDuration(from: number, duration: IsoDuration): number {
  const months = duration.years * 12 + duration.months;
  const days = duration.weeks * 7 + duration.days;
  const clock = (duration.hours * 60 + duration.minutes) * 60 + duration.seconds;
  return addMonths(from, months) + days * 86_400_000 + Math.round(clock * 1_000);
}

function addMonths(from: number, months: number): number {
  if (months === 0) {
    return from;
  }
  const date = new Date(from);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.getTime();
}

/**
 * Parses an RFC 3339 or ISO 8601 time such as `2026-01-31T10:20:30.123+01:00`. Without an offset it is UTC. Fractions are cut to
 * milliseconds. A leap second counts as the start of the next second.
 * @returns epoch milliseconds; undefined for anything else, including a day that does not exist
 */
export function parseDateTime(text: string): number | undefined {
  const [, date, time, seconds = '00', fraction = '', zone = 'Z'] = DATE_TIME.exec(text.trim()) ?? [];
  if (date === undefined || time === undefined || !isDay(date)) {
    return undefined;
  }
  const momentAt = (second: string): number => Date.parse(`${date}T${time}:${second}${offsetOf(zone)}`);
  const moment =
    seconds === LEAP_SECOND
      ? afterLastSecond(momentAt('59'))
      : momentAt(`${seconds}.${fraction.padEnd(3, '0')}`);
  return Number.isNaN(moment) ? undefined : moment;
}

/** Returns the start of the next day if the time is the last second of a day, the only place for a leap second; NaN otherwise. */
function afterLastSecond(moment: number): number {
  const isLast = !Number.isNaN(moment) && new Date(moment).toISOString().endsWith('T23:59:59.000Z');
  return isLast ? moment + SECOND_MS : Number.NaN;
}

function isDay(date: string): boolean {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
}

function offsetOf(zone: string): string {
  const isWhole = zone.length === 1 || zone.includes(':');
  return isWhole ? zone.toUpperCase() : `${zone.slice(0, 3)}:${zone.slice(3)}`;
}

/** Parses `R5/PT1M` or, unlimited, `R/PT1M`. Returns undefined for anything else, including cycles with a start or end. */
export function parseCycle(text: string): IsoCycle | undefined {
  const [, count, period = ''] = CYCLE.exec(text.trim()) ?? [];
  const interval = parseDuration(period);
  if (count === undefined || interval === undefined) {
    return undefined;
  }
  return { repetitions: count === '' ? null : Number(count), interval };
}
