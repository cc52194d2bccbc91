import { describe, expect, it } from 'vitest';

import { plainText } from './plain-text.js';

describe('plainText', () => {
  it.each([
    ['two\r\nlines\tand a tab', 'two\nlines\tand a tab'],
    ['\u0000\u0007bell\u001b[31m', 'bell[31m'],
    ['right\u202eleft\u2066', 'rightleft'],
    ['invisible\u200b\u{e0041}\ufeff', 'invisible'],
    ['lone \ud800 half', 'lone  half'],
    ['Zoë 日本語 👩‍💻', 'Zoë 日本語 👩‍💻'],
    [42, ''],
    [null, ''],
  ])('makes %j readable', (value, expected) => {
    expect(plainText(value, 100)).toBe(expected);
  });

  it('cuts without breaking a character', () => {
    expect(plainText('abc👍', 4)).toBe('abc');
    expect(plainText('x'.repeat(5_000), 2_000)).toHaveLength(2_000);
  });
});
