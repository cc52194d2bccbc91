import { expect, it } from 'vitest';
import { isRounded, parsedJson } from '../../../packages/console/src/parts/json.js';

it.each([
  [
    '{"a": [1.5, 9007199254740991, 1e300, "9007199254740993"]}',
    { a: [1.5, 2 ** 53 - 1, 1e300, '9007199254740993'] },
  ],
  ['{"id": 3544790567247868102}', undefined],
  ['{', undefined],
])('%s is parsed only if no number would be rounded', (text, value) => {
  expect(parsedJson(text)).toEqual(value);
});

it.each([
  ['9007199254740992', true],
  ['9007199254740991', false],
  ['1234567890123456789012345', true],
  ['1.5e300', false],
])('%s would be rounded: %s', (written, expected) => {
  expect(isRounded(written)).toBe(expected);
});
