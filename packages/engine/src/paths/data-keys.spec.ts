import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { omitKeys, pickKeys, untakenPaths } from './data-keys.js';
import { InvalidDataPathError, getPath } from './data-paths.js';
import { isJsonObject, type JsonObject } from '../json/json.js';

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}

describe('pickKeys', () => {
  const data = frozen({
    client: { name: 'A', address: { city: 'B', zip: 1 } },
    amount: 5,
    items: [{ id: 1, price: 2 }, 'text', { id: 3, price: 4 }],
    nested: [{ a: { x: 1, y: 2 } }, { a: { x: 4 } }],
    empty: {},
    none: null,
  });

  it.each<[string[], unknown]>([
    [[], {}],
    [['*'], data],
    [['amount', '*'], data],
    [['amount', 'client.name'], { amount: 5, client: { name: 'A' } }],
    [['client'], { client: data.client }],
    [['client.*'], { client: data.client }],
    [['client', 'client.name'], { client: data.client }],
    [['client.name', 'client'], { client: data.client }],
    [['client.address.city'], { client: { address: { city: 'B' } } }],
    [['clien', 'client.nam', 'amount.x', 'empty.x', 'none.x', 'missing'], {}],
    [['empty', 'none'], { empty: {}, none: null }],
    [['items.id'], { items: [{ id: 1 }, null, { id: 3 }] }],
    [['items[1]'], { items: [null, 'text'] }],
    [['items[0].price', 'items.id'], { items: [{ id: 1, price: 2 }, null, { id: 3 }] }],
    [['items[7].price', 'items.nothing'], {}],
    [['nested.a.x', 'nested[0].a.y'], { nested: [{ a: { x: 1, y: 2 } }, { a: { x: 4 } }] }],
    [['nested[0].a.y', 'nested.a'], { nested: data.nested }],
    [['toString', 'client.toString', '*.name'], {}],
  ])('keeps by %j: %j', (keys, kept) => {
    expect(pickKeys(data, keys)).toEqual(kept);
  });

  it('rejects malformed and prototype keys', () => {
    expect(() => pickKeys(data, ['a..b'])).toThrow(InvalidDataPathError);
    expect(() => pickKeys(data, ['__proto__'])).toThrow(InvalidDataPathError);
  });

  it('handles many elements and keys in bounded time', () => {
    const items = Array.from({ length: 20_000 }, (_, id) => ({ id, price: id }));
    const keys = Array.from({ length: 500 }, (_, index) => `items.k${index}`);
    const start = process.cpuUsage();
    expect(pickKeys({ items }, [...keys, 'items.id'])).toEqual({ items: items.map(({ id }) => ({ id })) });
    expect(process.cpuUsage(start).user).toBeLessThan(5_000_000);
  });
});

describe('omitKeys', () => {
  const data = frozen({ client: { name: 'A', city: 'B' }, amount: 5, items: [{ id: 1, price: 2 }, 'text'] });

  it.each<[string[], unknown]>([
    [[], data],
    [['*'], {}],
    [['amount', 'client.name'], { client: { city: 'B' }, items: data.items }],
    [['items.price'], { ...data, items: [{ id: 1 }, 'text'] }],
    [['items[0]'], { ...data, items: ['text'] }],
    [['missing.x', 'amount.x'], data],
  ])('drops %j and keeps %j', (keys, left) => {
    expect(omitKeys(data, keys)).toEqual(left);
  });
});

describe('work', () => {
  it('does not grow with elements times keys', () => {
    // A naive walk would look up every key at every element.
    const keys = Array.from({ length: 1_000 }, (_, index) => [`items.k${index}`, `items[${index}].n`]).flat();
    const get = vi.spyOn(Map.prototype, 'get');
    const set = vi.spyOn(Map.prototype, 'set');
    const items = Array.from({ length: 20_000 }, (_, index) => (index % 2 === 0 ? {} : { k1: 1 }));
    const kept = pickKeys({ items }, keys);
    const left = omitKeys({ items }, keys);
    const untaken = untakenPaths({ items }, keys, 20);
    const calls = get.mock.calls.length + set.mock.calls.length;
    get.mockRestore();
    set.mockRestore();
    expect(kept['items']).toHaveLength(20_000);
    expect(left['items']).toHaveLength(20_000);
    expect(untaken).toEqual([]);
    expect(calls).toBeLessThan(500_000);
  });
});

describe('untakenPaths', () => {
  const data = frozen({
    client: { name: 'A', address: { city: 'B', zip: 1 } },
    amount: 5,
    items: [{ id: 1, price: 2 }, 'text', null],
    'a.b': { 'c d': 1 },
  });

  it.each<[string[], string[]]>([
    [['*'], []],
    [[], ['client', 'amount', 'items', '["a.b"]']],
    [['client', 'amount', 'items', '["a.b"]'], []],
    [
      ['client.name', 'amount.x', 'items.id', '["a.b"].x'],
      ['client.address', 'amount', 'items[0].price', 'items[1]', '["a.b"].c d'],
    ],
    [
      ['client.address.city', 'client.name', 'amount', 'items[0]', '["a.b"]["c d"]'],
      ['client.address.zip', 'items[1]'],
    ],
  ])('lists what %j does not take: %j', (keys, untaken) => {
    expect(untakenPaths(data, keys, 20)).toEqual(untaken);
  });

  it('combines a key for every element with a key for one element', () => {
    const items = [{ a: { x: 1, y: 2 } }];
    const keys = ['items.a.x', 'items[0].a.y'];
    expect(untakenPaths({ items }, keys, 20)).toEqual([]);
    expect(omitKeys({ items }, keys)).toEqual({ items: [{ a: {} }] });
  });

  it('ignores empty objects and null elements, but reports null values and empty arrays', () => {
    expect(untakenPaths({ client: {}, list: [{ id: 1 }, null] }, ['client.name', 'list.id'], 20)).toEqual([]);
    expect(untakenPaths({ client: null, list: [] }, ['client.name', 'list.id'], 20)).toEqual([
      'client',
      'list',
    ]);
    expect(untakenPaths({ list: { 0: 'x' } }, ['list[0]'], 20)).toEqual([]);
  });

  it('stops at the limit, in bounded time with many members', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]));
    const keys = Array.from({ length: 500 }, (_, index) => `x.k${index}`);
    expect(untakenPaths(many, keys, 3)).toEqual(['k0', 'k1', 'k2']);
  });

  it('keeps the same whether few or many keys match at one place', () => {
    const step = fc.constantFrom('.a', '.b', '.1', '[0]', '[1]');
    const key = fc
      .array(step, { maxLength: 5 })
      .map((steps) => `a${steps.join('').replaceAll('.1', '["1"]')}`);
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 6 }, fc.constant(1), fc.array(tie('any'), { maxLength: 3 }), tie('object')),
      object: fc.dictionary(fc.constantFrom('a', 'b', '1'), tie('any'), { maxKeys: 3 }),
    })).any;
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 60 }), value, (keys, a) => {
        const byOne = new Set(keys.flatMap((one) => leavesOf(pickKeys({ a }, [one]))));
        expect(new Set(leavesOf(pickKeys({ a }, keys)))).toEqual(byOne);
        expect(leavesOf(omitKeys({ a }, keys))).toHaveLength(leavesOf({ a }).length - byOne.size);
      }),
    );
  });

  it('takes no longer at a place because many keys match there', () => {
    const names = Array.from({ length: 11 }, (_, at) => `n${at}`);
    const elements = Array.from({ length: 20_000 }, (_, index) => ({ [`n${index}`]: 1, x: 1 }));
    const time = (optional: number): number => {
      const keys = Array.from({ length: 2 ** optional }, (_, set) => {
        const steps = names.map((name, at) => `${name}${(set >> at) & 1 ? '[0]' : ''}`);
        return `${steps.join('.')}.x`;
      });
      const data = names
        .toReversed()
        .reduce<unknown>(
          (inner, name) => ({ [name]: Array.isArray(inner) ? inner : [inner] }),
          elements,
        ) as JsonObject;
      pickKeys(data, keys);
      const start = process.cpuUsage();
      expect(pickKeys(data, keys)).not.toEqual({});
      const { user, system } = process.cpuUsage(start);
      return user + system;
    };
    const few = time(1);
    expect(Math.min(...Array.from({ length: 3 }, () => time(10)))).toBeLessThan(few * 20 + 20_000);
  });

  it('lists nothing exactly when the whitelist keeps everything', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd e');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('.'));
    const tree = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.string(), tie('object')),
      object: fc.dictionary(name, tie('value'), { minKeys: 1 }),
    })).object as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(tree, fc.array(path), (value, keys) => {
        const untaken = untakenPaths(value, keys, 1_000);
        const kept = pickKeys(value, keys);
        expect(JSON.stringify(sorted(kept)) === JSON.stringify(sorted(value))).toBe(untaken.length === 0);
        untaken.forEach((one) => expect(getPath(value, one)).not.toBeUndefined());
      }),
    );
  });
});

function leavesOf(value: unknown, path = ''): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, child]) => leavesOf(child, `${path}/${name}`));
  }
  return value === null ? [] : [path];
}

function sorted(value: unknown): unknown {
  return isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value)
          .map(([name, child]) => [name, sorted(child)] as const)
          .toSorted(([one], [other]) => one.localeCompare(other)),
      )
    : value;
}
