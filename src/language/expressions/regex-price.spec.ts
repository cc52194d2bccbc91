import { describe, expect, it } from 'vitest';
import { regexPrice, regexStates } from './regex-price.js';

describe('regexStates', () => {
  it.each<[string, number]>([
    ['', 0],
    ['abc', 3],
    ['a{3}', 3],
    ['a{2,5}b', 6],
    ['a{2,}', 2],
    ['(ab){3}', 6],
    ['(a{1,100}){1,10}', 1000],
    ['((a{10}){10}){10}', 1000],
    ['[a-z{9}]{4}', 4],
    ['[]{9}]{4}', 4],
    ['[^\\]{9}]{4}', 4],
    ['\\d{4}-\\(\\{', 7],
    ['a{x}', 4],
    [')a(b', 3],
  ])('of %j are %i', (pattern, states) => {
    expect(regexStates(pattern)).toBe(states);
  });
});

describe('regexPrice', () => {
  it('grows with the text, and with the states for each of its characters', () => {
    expect(regexPrice(1000, 'a')).toBeLessThan(1100);
    expect(regexPrice(1000, '(a{1,100}){1,10}')).toBeGreaterThan(30_000);
  });

  it('is small for everyday patterns, so that a macro can use them on every element', () => {
    expect(regexPrice(10, '^\\d{4}-\\d{2}-\\d{2}$')).toBeLessThan(60);
    expect(regexPrice(25, '^[^@ ]+@[^@ ]+\\.[a-z]{2,}$')).toBeLessThan(80);
  });
});
