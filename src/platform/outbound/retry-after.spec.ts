import { expect, it } from 'vitest';
import { retryAfterOf } from './retry-after.js';

it.each<[string, Record<string, string>, number | null]>([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['milliseconds', { 'retry-after-ms': '250.5', 'retry-after': '7' }, 250.5],
  [
    'a date',
    { 'retry-after': 'Sat, 31 Jan 2026 10:20:40 GMT', date: 'Sat, 31 Jan 2026 10:20:30 GMT' },
    10_000,
  ],
  [
    'a date that has passed',
    { 'retry-after': 'Sat, 31 Jan 2026 10:20:20 GMT', date: 'Sat, 31 Jan 2026 10:20:30 GMT' },
    0,
  ],
  ['a date without a Date header', { 'retry-after': 'Sat, 31 Jan 2026 10:20:40 GMT' }, null],
  ['an invalid value', { 'retry-after': 'soon' }, null],
  ['no header', {}, null],
])('reads %s', (_case, headers, expected) => {
  expect(retryAfterOf(new Headers(headers))).toBe(expected);
});
