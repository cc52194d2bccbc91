import { describe, expect, it } from 'vitest';
import { printable } from './printable.js';

describe('printable', () => {
  it.each([
    ['\u001b[2Jgone', '\ufffd[2Jgone'],
    ['a\nb\u009b', 'a\ufffdb\ufffd'],
    ['De\u202ead \u2066x\u2069 \u200f \u061c', 'De\ufffdad \ufffdx\ufffd \ufffd \ufffd'],
    ['a\u2028b\u2029', 'a\ufffdb\ufffd'],
    ['pay\u200bpal \ufeff\u00ad', 'pay\ufffdpal \ufffd\ufffd'],
  ])('replaces control and invisible characters: %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it.each([
    'نمی\u200cخواهم',
    '👩\u200d💻',
    '❤\ufe0f',
    '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '«Ünï» 在庫',
  ])('keeps %j', (text) => {
    expect(printable(text)).toBe(text);
  });
});
