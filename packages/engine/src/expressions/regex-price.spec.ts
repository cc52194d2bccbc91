import { RE2JS } from '@bufbuild/re2';
import { describe, expect, it } from 'vitest';
import { machinePrice, readingPrice, regexStates } from './regex-price.js';

const priceOf = (pattern: string): number => readingPrice(pattern.length) + machinePrice(pattern);

describe('regexStates', () => {
  it.each<[string, number]>([
    ['', 0],
    ['abc', 3],
    ['a{3}', 3],
    ['a{2,}', 3],
    ['[a-z{9}]{4}', 4],
    ['[]{9}]{4}', 4],
    ['[^\\]{9}]{4}', 4],
    ['[[:alpha:]{9}]{4}', 4],
    ['\\d{4}-\\(\\{', 7],
    ['\\p{Greek}{4}', 4],
    ['\\x{1F600}{4}', 4],
    ['a{x}', 4],
  ])('of %j are %i', (pattern, states) => {
    expect(regexStates(pattern)).toBe(states);
  });

  it.each([
    'a{2,5}b',
    '(ab){3}',
    '(a{1,100}){1,10}',
    '((a{10}){10}){10}',
    '(a*){900}',
    '(\\pL?)(?i){999}',
    '(a?)\\Q\\E{999}',
    '\\Q[\\E(a?){999}]',
    '[[:^alpha:]](a?){999}]',
    '(a?){30}(?i){30}',
    '(?P<name>a?){999}',
    '(?i:a?){999}',
    '([[]a?){999}',
    '(\\(a?){999}',
    '(\\x{28}a?){999}',
    '(\\p{^Greek}){999}',
    '((a|b|cd)+)??(?s){100}',
  ])('of %j are at least as many as the library creates', (pattern) => {
    const made = RE2JS.compile(pattern).re2().prog.numInst();
    expect(regexStates(pattern) * 2).toBeGreaterThanOrEqual(made - 4);
    expect(regexStates(pattern)).toBeLessThan(made * 2);
  });
});

describe('the price of a pattern', () => {
  it('is low for everyday patterns, so that a macro can match every element', () => {
    expect(priceOf('^\\d{4}-\\d{2}-\\d{2}$')).toBeLessThan(60);
    expect(priceOf('^[^@ ]+@[^@ ]+\\.[a-z]{2,}$')).toBeLessThan(80);
    expect(priceOf('(?i)^[a-z0-9]+$')).toBeLessThan(80);
  });

  it('grows with Unicode classes and with case-insensitive ranges', () => {
    expect(priceOf('[\\pL\\pN]')).toBeGreaterThan(300);
    expect(priceOf('(?i)[\\x{100}-\\x{1E942}]')).toBeGreaterThan(50_000);
    expect(priceOf('[\\x{100}-\\x{1E942}]')).toBeLessThan(100);
  });
});
