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

const PART = String.raw`(\d{1,9})`;
const DURATION = new RegExp(
  `^P(?=.)(?:${PART}Y)?(?:${PART}M)?(?:${PART}W)?(?:${PART}D)?(?:T(?=.)(?:${PART}H)?(?:${PART}M)?(?:(\\d{1,9}(?:[.,]\\d{1,3})?)S)?)?$`,
);
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:?\d{2})?$/;
const CYCLE = /^R(\d{0,6})\/(P.+)$/;

/** Reads `P1DT2H30M`; undefined for anything that ISO 8601 does not know, and for fractions of anything but seconds. */
export function parseDuration(text: string): IsoDuration | undefined {
  const match = DURATION.exec(text.trim());
  if (match === null) {
    return undefined;
  }
  const [years, months, weeks, days, hours, minutes, seconds] = match
    .slice(1)
    .map((part: string | undefined) => Number((part ?? '0').replace(',', '.')));
  return {
    years: years ?? 0,
    months: months ?? 0,
    weeks: weeks ?? 0,
    days: days ?? 0,
    hours: hours ?? 0,
    minutes: minutes ?? 0,
    seconds: seconds ?? 0,
  };
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
 * Reads `2026-01-31T10:20:30.123+01:00`; without an offset it is UTC.
 * @returns epoch milliseconds; undefined for anything else, a day that does not exist included
 */
export function parseDateTime(text: string): number | undefined {
  const [, date, time, offset = 'Z'] = DATE_TIME.exec(text.trim()) ?? [];
  if (date === undefined || time === undefined) {
    return undefined;
  }
  const zone = offset === 'Z' || offset.includes(':') ? offset : `${offset.slice(0, 3)}:${offset.slice(3)}`;
  const moment = Date.parse(`${date}T${time}${zone}`);
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
  return exists && !Number.isNaN(moment) ? moment : undefined;
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
