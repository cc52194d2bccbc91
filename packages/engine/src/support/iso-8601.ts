/** Parts of an ISO 8601 duration; whole numbers but the seconds. */
export interface IsoDuration {
  readonly years: number;
  readonly months: number;
  readonly weeks: number;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
}

/** A repeated interval, `R5/PT1M`. */
export interface IsoCycle {
  /** How often; null for without end. */
  readonly repetitions: number | null;
  readonly interval: IsoDuration;
}

const SECOND_MS = 1_000;
/** Longest duration: what it leads to must stay a date that everybody can write. */
export const MAX_DURATION_YEARS = 100;
/** As {@link addDuration} counts them from 1970 on. */
const MAX_DURATION_MS = Date.UTC(1970 + MAX_DURATION_YEARS, 0);
const PART = String.raw`(\d{1,9})`;
const DURATION = new RegExp(
  `^P(?=.)(?:${PART}Y)?(?:${PART}M)?(?:${PART}W)?(?:${PART}D)?(?:T(?=.)(?:${PART}H)?(?:${PART}M)?(?:(\\d{1,9}(?:[.,]\\d{1,3})?)S)?)?$`,
);
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,3})\d*)?)?([Zz]|[+-]\d{2}:?\d{2})?$/;
/** What a clock shows in a leap second (RFC 3339, section 5.7). */
const LEAP_SECOND = '60';
const CYCLE = /^R(\d{0,6})\/(P.+)$/;

/** Reads `P1DT2H30M`; undefined for anything that ISO 8601 does not know, and for fractions of anything but seconds. */
export function parseDuration(text: string): IsoDuration | undefined {
  const match = DURATION.exec(text.trim());
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = (match ?? [])
    .slice(1)
    .map((part: string | undefined) => Number((part ?? '0').replace(',', '.')));
  return match === null ? undefined : { years, months, weeks, days, hours, minutes, seconds };
}

/** Reads a duration of at most `MAX_DURATION_YEARS`; undefined for anything else. */
export function parseBoundedDuration(text: string): IsoDuration | undefined {
  const duration = parseDuration(text);
  return duration && addDuration(0, duration) <= MAX_DURATION_MS ? duration : undefined;
}

/**
 * The moment a duration after another, in UTC; a day that a month does not have becomes its last one.
 * @param from epoch milliseconds
 * @returns epoch milliseconds; NaN beyond what a date can hold
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
 * Reads `2026-01-31T10:20:30.123+01:00` as RFC 3339 and ISO 8601 write it; without an offset it is UTC. Of a fraction three digits count. A
 * leap second is the beginning of the next second.
 * @returns epoch milliseconds; undefined for anything else, a day that does not exist included
 */
export function parseDateTime(text: string): number | undefined {
  const [, date, time, seconds = '00', fraction = '', zone = 'Z'] = DATE_TIME.exec(text.trim()) ?? [];
  if (date === undefined || time === undefined || !isDay(date)) {
    return undefined;
  }
  const momentAt = (second: string): number => Date.parse(`${date}T${time}:${second}${offsetOf(zone)}`);
  const moment =
    seconds === LEAP_SECOND ? behind(momentAt('59')) : momentAt(`${seconds}.${fraction.padEnd(3, '0')}`);
  return Number.isNaN(moment) ? undefined : moment;
}

/** The second that follows on the last one of a day: only there is a leap second. */
function behind(moment: number): number {
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

/** Reads `R5/PT1M` or, without end, `R/PT1M`; undefined for anything else, a start or an end included. */
export function parseCycle(text: string): IsoCycle | undefined {
  const [, count, period = ''] = CYCLE.exec(text.trim()) ?? [];
  const interval = parseDuration(period);
  if (count === undefined || interval === undefined) {
    return undefined;
  }
  return { repetitions: count === '' ? null : Number(count), interval };
}
