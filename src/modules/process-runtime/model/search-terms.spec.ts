import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSearchTerm, searchedText, termHash } from './search-terms.js';

describe('readSearchTerm', () => {
  it.each([
    ['client.id:4711', 'client.id', '4711'],
    ['a:b:c', 'a', 'b:c'],
    ['a: b ', 'a', ' b '],
    ['a:\n', 'a', '\n'],
    ['client["id"]:x', 'client.id', 'x'],
    [`lines[0]['net price']:1.5`, 'lines[0].net price', '1.5'],
    ['["a.b"].c:true', '["a.b"].c', 'true'],
    ['["a:b"]:c', 'a:b', 'c'],
    ['Credit Score:7', 'Credit Score', '7'],
    [`a:${'😀'.repeat(255)}`, 'a', '😀'.repeat(255)],
  ])('reads %s', (text, path, value) => {
    expect(readSearchTerm(text)).toEqual({ path, value });
  });

  it.each([
    '',
    'a',
    ':b',
    'a:',
    '.a:b',
    'a..b:c',
    'a.:b',
    'a[x]:1',
    'a[0:1',
    '"a":1',
    ' a:1',
    '__proto__:1',
    'a.prototype.b:1',
  ])('does not take %j', (text) => {
    expect(readSearchTerm(text)).toBeUndefined();
  });

  it('does not take more than 255 characters, nor a path beyond the limits of paths', () => {
    expect(readSearchTerm(`a:${'😀'.repeat(256)}`)).toBeUndefined();
    expect(readSearchTerm(`${'a.'.repeat(64)}a:1`)).toBeUndefined();
    expect(readSearchTerm(`${'a'.repeat(1_025)}:1`)).toBeUndefined();
  });

  it('takes no longer for texts that are nearly one', () => {
    const start = performance.now();
    for (const part of ['a.', '[0]', '["a"]', '["', 'a[', ' ']) {
      readSearchTerm(part.repeat(20_000));
    }
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe('searchedText', () => {
  it.each([
    ['x', 'x'],
    [0, '0'],
    [-0, '0'],
    [1.5, '1.5'],
    [1e21, '1e+21'],
    [true, 'true'],
    [false, 'false'],
    ['😀'.repeat(255), '😀'.repeat(255)],
  ])('of %j is %j', (value, text) => {
    expect(searchedText(value)).toBe(text);
  });

  it.each([[''], [null], [undefined], [{}], [[]], [['x']], ['x'.repeat(256)], ['😀'.repeat(256)]])(
    'of %j is none',
    (value) => {
      expect(searchedText(value)).toBeUndefined();
    },
  );
});

describe('termHash', () => {
  it('is another for another path or value', () => {
    const term = fc.record({ path: fc.string(), value: fc.string() });
    fc.assert(
      fc.property(term, term, (one, other) => {
        const isSame = one.path === other.path && one.value === other.value;
        expect(termHash(one) === termHash(other)).toBe(isSame);
      }),
    );
    expect(termHash({ path: 'a', value: '1' })).toMatch(/^[\da-f]{64}$/);
  });
});
