import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSearchTerm, toSearchText, termHash, SearchableData } from './search-terms.js';

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
  ])('rejects %j', (text) => {
    expect(readSearchTerm(text)).toBeUndefined();
  });

  it('rejects values over 255 characters and paths over the path limits', () => {
    expect(readSearchTerm(`a:${'😀'.repeat(256)}`)).toBeUndefined();
    expect(readSearchTerm(`${'a.'.repeat(64)}a:1`)).toBeUndefined();
    expect(readSearchTerm(`${'a'.repeat(1_025)}:1`)).toBeUndefined();
  });

  it('rejects near misses without catastrophic backtracking', () => {
    const start = performance.now();
    for (const part of ['a.', '[0]', '["a"]', '["', 'a[', ' ']) {
      readSearchTerm(part.repeat(20_000));
    }
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe('toSearchText', () => {
  it.each([
    ['x', 'x'],
    [0, '0'],
    [-0, '0'],
    [1.5, '1.5'],
    [1e21, '1e+21'],
    [true, 'true'],
    [false, 'false'],
    ['😀'.repeat(255), '😀'.repeat(255)],
  ])('converts %j to %j', (value, text) => {
    expect(toSearchText(value)).toBe(text);
  });

  it.each([[''], [null], [undefined], [{}], [[]], [['x']], ['x'.repeat(256)], ['😀'.repeat(256)]])(
    'ignores %j',
    (value) => {
      expect(toSearchText(value)).toBeUndefined();
    },
  );
});

describe('termHash', () => {
  it('differs for different paths or values', () => {
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

const DATA = new SearchableData(['client.id', 'open', 'lines[0]']);

describe('SearchableData', () => {
  it('returns every value of new data', () => {
    expect(DATA.changes(null, { client: { id: 4711 }, open: false, other: 1 })).toEqual([
      { member: 0, term: termHash({ path: 'client.id', value: '4711' }) },
      { member: 1, term: termHash({ path: 'open', value: 'false' }) },
    ]);
  });

  it('returns changed, added and removed values', () => {
    const before = { client: { id: 1 }, open: true };
    expect(DATA.changes(before, { client: { id: 2 }, lines: ['x'] })).toEqual([
      { member: 0, term: termHash({ path: 'client.id', value: '2' }) },
      { member: 1, term: null },
      { member: 2, term: termHash({ path: 'lines[0]', value: 'x' }) },
    ]);
  });

  it('returns nothing for unchanged values', () => {
    expect(DATA.changes({ client: { id: 1 } }, { client: { id: '1', name: 'x' }, open: {} })).toEqual([]);
    expect(new SearchableData([]).changes(null, { a: 1 })).toEqual([]);
  });
});
