import { describe, expect, it } from 'vitest';
import { addDuration, parseCycle, parseDateTime, parseDuration } from './iso-8601.js';

const zero = { years: 0, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0 };

describe('parseDuration', () => {
  it.each([
    ['PT15M', { minutes: 15 }],
    [
      'P1Y2M3W4DT5H6M7.089S',
      { years: 1, months: 2, weeks: 3, days: 4, hours: 5, minutes: 6, seconds: 7.089 },
    ],
    ['PT0,5S', { seconds: 0.5 }],
    [' P1M ', { months: 1 }],
    ['PT1M', { minutes: 1 }],
    ['P0D', {}],
  ])('reads %s', (text, parts) => {
    expect(parseDuration(text)).toEqual({ ...zero, ...parts });
  });

  it.each([
    '',
    'P',
    'PT',
    'P1DT',
    '1D',
    'P1H',
    'PT1D',
    'P1.5D',
    '-P1D',
    'P-1D',
    'P1D2Y',
    'PT1.0001S',
    'P1234567890D',
    'p1d',
  ])('does not read "%s"', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('addDuration', () => {
  it.each([
    ['2026-01-31T10:00:00.000Z', 'P1M', '2026-02-28T10:00:00.000Z'],
    ['2028-02-29T10:00:00.000Z', 'P1Y', '2029-02-28T10:00:00.000Z'],
    ['2026-12-31T23:59:59.000Z', 'PT1.5S', '2027-01-01T00:00:00.500Z'],
    ['2026-03-31T00:00:00.000Z', 'P13M1W1DT1H', '2027-05-08T01:00:00.000Z'],
    ['2026-01-01T00:00:00.000Z', 'P0D', '2026-01-01T00:00:00.000Z'],
  ])('%s plus %s is %s', (from, text, expected) => {
    const duration = parseDuration(text)!;
    expect(new Date(addDuration(Date.parse(from), duration)).toISOString()).toBe(expected);
  });

  it('returns NaN beyond the range of dates', () => {
    expect(addDuration(0, parseDuration('P999999999Y')!)).toBeNaN();
  });
});

describe('parseDateTime', () => {
  it.each([
    ['2026-01-31T10:20:30.123Z', '2026-01-31T10:20:30.123Z'],
    ['2026-01-31T10:20:30+01:30', '2026-01-31T08:50:30.000Z'],
    ['2026-01-31T10:20-0500', '2026-01-31T15:20:00.000Z'],
    ['2026-01-31T10:20:30', '2026-01-31T10:20:30.000Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['2026-01-31T10:20:30.5Z', '2026-01-31T10:20:30.500Z'],
    ['2026-01-31t10:20:30.123456z', '2026-01-31T10:20:30.123Z'],
    ['2026-01-31T10:20:30.123999999+00:00', '2026-01-31T10:20:30.123Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['1990-12-31T15:59:60.75-08:00', '1991-01-01T00:00:00.000Z'],
  ])('reads %s', (text, expected) => {
    expect(new Date(parseDateTime(text)!).toISOString()).toBe(expected);
  });

  it.each([
    '',
    '2026-01-31',
    '2026-02-30T00:00:00Z',
    '2027-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-31T25:00:00Z',
    '2026-01-31T10:20:60Z',
    '2026-01-31T10:20:30.Z',
    '2026-01-31T10:20.5Z',
    'tomorrow',
    '2026-01-31 10:20:30',
  ])('does not read "%s"', (text) => {
    expect(parseDateTime(text)).toBeUndefined();
  });
});

describe('parseCycle', () => {
  it('reads the number of repetitions, or null for unlimited', () => {
    expect(parseCycle('R5/PT1M')).toEqual({ repetitions: 5, interval: { ...zero, minutes: 1 } });
    expect(parseCycle('R/P1D')).toEqual({ repetitions: null, interval: { ...zero, days: 1 } });
  });

  it.each([
    '',
    'R5',
    'R5/',
    '5/PT1M',
    'R-1/PT1M',
    'R5/2026-01-01T00:00:00Z/PT1M',
    'R1234567/PT1M',
    '0 0 * * *',
  ])('does not read "%s"', (text) => {
    expect(parseCycle(text)).toBeUndefined();
  });
});
