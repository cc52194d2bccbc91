import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { asInfinite, parseExactly, refuseRounded } from './exact-json.js';

const inQuotes = (text: string): unknown => parseExactly(text, JSON.stringify);

it.each<[string, unknown]>([
  ['{"id":3544790567247868102}', { id: '3544790567247868102' }],
  [
    '[-9007199254740993, 9007199254740992 ,9007199254740991]',
    ['-9007199254740993', '9007199254740992', 2 ** 53 - 1],
  ],
  ['9007199254740993', '9007199254740993'],
  [
    '{"9007199254740993":"9007199254740993 \\"9007199254740993"}',
    { '9007199254740993': '9007199254740993 "9007199254740993' },
  ],
  [
    '[0.9007199254740993,9007199254740993.5,1.5e0000000000000000003,1e-0000000000000000001]',
    [0.9007199254740993, 9007199254740994, 1500, 0.1],
  ],
  ['[9007199254740993e3, 1e300]', [9007199254740993e3, 1e300]],
  ['{"a\\\\":9007199254740993}', { 'a\\': '9007199254740993' }],
])('reads %s exactly', (text, value) => {
  expect(inQuotes(text)).toEqual(value);
});

it('replaces such an integer with infinity or rejects it, as the caller chooses', () => {
  expect(parseExactly('[3544790567247868102,-3544790567247868102]', asInfinite)).toEqual([
    Infinity,
    Infinity,
  ]);
  expect(() => parseExactly('[1,3544790567247868102]', refuseRounded)).toThrow(
    '3544790567247868102 would be rounded: integers go up to 2^53 - 1',
  );
});

it.each(['"9007199254740993', '[09007199254740993]', '{"a":9007199254740993', '-', '9007199254740993"'])(
  'rejects %s as JSON.parse does',
  (text) => {
    expect(() => inQuotes(text)).toThrow(SyntaxError);
  },
);

it('reads millions of digits, quotation marks and backslashes', () => {
  expect(parseExactly('9'.repeat(3_000_000), asInfinite)).toBe(Infinity);
  const text = JSON.stringify({ a: '"\\'.repeat(1_000_000), b: '9'.repeat(1_000_000) });
  expect(parseExactly(text, refuseRounded)).toEqual(JSON.parse(text));
});

it('equals JSON.parse when all integers are safe', () => {
  const value = fc.jsonValue().filter((one) => !/\d{16}/.test(JSON.stringify(one)));
  fc.assert(
    fc.property(value, (json) => {
      const text = JSON.stringify([json, '9007199254740993']);
      expect(parseExactly(text, refuseRounded)).toEqual(JSON.parse(text));
    }),
  );
});
