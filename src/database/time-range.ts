import { LessThan, MoreThanOrEqual, type FindOperator } from 'typeorm';
import { firstUuidAt } from '../common/ordered-uuid.js';

/** By which times a list is narrowed (docs/contract.md, section 1). */
export interface TimeRange {
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

/** The last moment that every database takes. With an offset callers can write later ones, and some before the year 0. */
const LAST_MSECS = Date.UTC(9_999, 11, 31, 23, 59, 59, 999);

/** That a time is in a range: an operator for each end that is given. */
export function timesIn({ from, to }: TimeRange): FindOperator<Date>[] {
  return [
    ...(from === undefined ? [] : [MoreThanOrEqual(storableTime(from))]),
    ...(to === undefined ? [] : [LessThan(storableTime(to))]),
  ];
}

/**
 * The same of an id that tells the time, a UUID version 7.
 * @param awayMs how far that time is from the one that is asked for, at the most
 */
export function uuidsIn({ from, to }: TimeRange, awayMs = 0): FindOperator<string>[] {
  return [
    ...(from === undefined ? [] : [MoreThanOrEqual(firstUuidAt(new Date(from.getTime() - awayMs)))]),
    ...(to === undefined ? [] : [LessThan(firstUuidAt(new Date(to.getTime() + awayMs)))]),
  ];
}

/** Nothing was stored before 1970, so the nearest moment that can be stored asks for the same. */
export function storableTime(time: Date): Date {
  return new Date(Math.min(Math.max(time.getTime(), 0), LAST_MSECS));
}
