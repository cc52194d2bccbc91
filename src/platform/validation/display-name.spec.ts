import { describe, expect, it } from 'vitest';
import { displayNameFault } from './patterns.decorators.js';

const INVISIBLE = 'must not contain invisible characters';
/** Encodes letters as tag characters, which select the flag in an emoji (Unicode TS 51, emoji tag sequences). */
const tags = (letters: string): string =>
  [...letters].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
const flag = (region: string): string => `\u{1f3f4}${tags(region)}\u{e007f}`;

describe('a display name', () => {
  it.each(['gbeng', 'gbsct', 'gbwls'])('may have the flag %s', (region) => {
    expect(displayNameFault(`Team ${flag(region)}${flag('gbsct')}!`)).toBeUndefined();
  });

  it.each([
    tags('order'),
    `a${flag('gbeng').slice(2)}`,
    `\u{1f3f4}${tags('gbeng')}`,
    `${flag('gbeng')}${tags('hidden')}\u{e007f}`,
    '\u{1f3f4}\u{e007f}',
    `\u{1f3f4}${tags('a-hidden-order-to-a-model')}\u{e007f}`,
    '\u{e0001}',
  ])('may not have tags outside of a flag: %j', (name) => {
    expect(displayNameFault(name)).toBe(INVISIBLE);
  });

  it.each([
    ...'\u00ad\u034f\u115f\u1160\u17b4\u180e\u200b\u2060\u2061\u2064\u206a\u3164\ufeff\uffa0\u{1d173}\u{e0fff}',
  ])('may not have the invisible %j', (character) => {
    expect(displayNameFault(`a${character}b`)).toBe(INVISIBLE);
  });

  it.each(['\u200c', '\u200d', '\ufe0e', '\ufe0f', '\u180b', '\u{e0100}'])('may have %j', (character) => {
    expect(displayNameFault(`a${character}b`)).toBeUndefined();
  });
});
