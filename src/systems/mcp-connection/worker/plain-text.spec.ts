import { describe, expect, it } from 'vitest';

import { hidesText, plainText, visibleText } from './plain-text.js';

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

  it.each([
    ['Arabic letter mark', 'a\u061cb'],
    ['soft hyphen', 'a\u00adb'],
    ['combining grapheme joiner', 'a\u034fb'],
    ['Hangul filler', 'a\u3164b'],
    ['Mongolian vowel separator', 'a\u180eb'],
    ['bidirectional isolate', 'a\u2068b'],
    ['deprecated format character', 'a\u206ab'],
    ['variation selector after a letter', 'a\ufe0fb'],
    ['variation selector after a digit', '1\ufe0f'],
    ['second variation selector after an emoji', '❤\ufe0f\ufe0f'],
    ['variation selector that no emoji has', '❤\ufe01'],
    ['supplementary variation selector', 'a\u{e0100}\u{e01ef}b'],
    ['annotation mark', 'a\ufff9b'],
    ['tag', 'a\u{e0041}\u{e007f}b'],
    ['joiner after a letter that does not join', 'a\u200db'],
    ['non-joiner after a letter that does not join', 'a\u200cb'],
    ['joiner at the end', 'ab\u200d'],
    ['joiner at the start', '\u200dab'],
    ['joiner behind an emoji that joins nothing', '❤\u200d'],
    ['non-joiner behind an emoji', '❤\ufe0f\u200c'],
    ['joiner behind a selector that goes', 'a\ufe0f\u200db'],
    ['line separator', 'a\u2028b'],
    ['escape', 'a\u001bb'],
  ])('removes a hidden character: %s', (_name, text) => {
    expect(hidesText(text)).toBe(true);
    const visible = visibleText(text);
    expect(visible).toMatch(/^(ab|1|❤\ufe0f?)$/);
    expect(hidesText(visible)).toBe(false);
  });

  it.each([
    '❤️ ☎︎ ©️',
    '1️⃣ #️⃣ *️⃣',
    '👩🏽‍💻 🏳️‍🌈 🇫🇷',
    'می‌خواهم',
    'مَ\u200cخ',
    'क्‍ष',
    'שלום',
    'tab\tand\nline',
    'é 한 ก็',
  ])('keeps characters that readers need: %s', (text) => {
    expect(hidesText(text)).toBe(false);
    expect(visibleText(text)).toBe(text);
  });

  it('keeps line ends and converts them to line feeds', () => {
    expect(hidesText('one\r\ntwo\rthree')).toBe(false);
    expect(visibleText('one\r\ntwo\rthree')).toBe('one\ntwo\nthree');
  });

  it('truncates without splitting a character', () => {
    expect(plainText('abc👍', 4)).toBe('abc');
    expect(plainText('x'.repeat(5_000), 2_000)).toHaveLength(2_000);
  });
});
