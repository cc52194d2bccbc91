import { describe, expect, it } from 'vitest';
import { safeInteger } from './tables/column-values.js';

describe('safeInteger', () => {
  it.each([
    ['0', 0],
    [7, 7],
    [12n, 12],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    [null, null],
    [undefined, undefined],
  ])('reads %o', (stored, value) => {
    expect(safeInteger.from(stored)).toBe(value);
  });

  it.each(['9007199254740992', 9_007_199_254_740_993n, '-1', 1.5, 'x', ''])(
    'throws when reading %o',
    (stored) => {
      expect(() => safeInteger.from(stored)).toThrow(RangeError);
    },
  );

  it.each([-1, 1.5, Number.NaN, 2 ** 53])('throws when writing %o', (value) => {
    expect(() => safeInteger.to(value)).toThrow(RangeError);
  });
});
