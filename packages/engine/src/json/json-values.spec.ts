import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { countValues, hasMoreValues } from './json.js';

const counted = (text: string, most = 1_000_000): number => countValues(Buffer.from(text), most);

it.each<[string, number]>([
  ['{}', 1],
  ['[ ]', 1],
  ['{ "a" : 1 }', 2],
  ['{"a":[1,2,{"b":null}],"c":"x,[{"}', 7],
  ['[[],[],{}]', 4],
  [String.raw`["\\","\"[,","\\\""]`, 4],
])('%s has %i values', (text, count) => {
  expect(counted(text)).toBe(count);
  expect(hasMoreValues(JSON.parse(text), count)).toBe(false);
  expect(hasMoreValues(JSON.parse(text), count - 1)).toBe(true);
});

it('counts the same in text and in the parsed value, regardless of whitespace', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const count = counted(JSON.stringify(value, null, space));
      expect(hasMoreValues(value, count)).toBe(false);
      expect(hasMoreValues(value, count - 1)).toBe(true);
    }),
  );
});

it('stops counting at the limit and at the end of truncated text', () => {
  expect(counted(`[${'1,'.repeat(1_000)}1]`, 10)).toBe(11);
  expect(counted('["a')).toBe(2);
});
