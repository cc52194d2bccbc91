import { describe, expect, it } from 'vitest';
import { termHash, SearchableData } from '../model/search-terms.js';

const DATA = new SearchableData(['client.id', 'open', 'lines[0]']);

describe('SearchableData', () => {
  it('tells every value of new data', () => {
    expect(DATA.changes(null, { client: { id: 4711 }, open: false, other: 1 })).toEqual([
      { member: 0, term: termHash({ path: 'client.id', value: '4711' }) },
      { member: 1, term: termHash({ path: 'open', value: 'false' }) },
    ]);
  });

  it('tells what has another value, has one, or has none any more', () => {
    const before = { client: { id: 1 }, open: true };
    expect(DATA.changes(before, { client: { id: 2 }, lines: ['x'] })).toEqual([
      { member: 0, term: termHash({ path: 'client.id', value: '2' }) },
      { member: 1, term: null },
      { member: 2, term: termHash({ path: 'lines[0]', value: 'x' }) },
    ]);
  });

  it('tells nothing where the values are the same', () => {
    expect(DATA.changes({ client: { id: 1 } }, { client: { id: '1', name: 'x' }, open: {} })).toEqual([]);
    expect(new SearchableData([]).changes(null, { a: 1 })).toEqual([]);
  });
});
