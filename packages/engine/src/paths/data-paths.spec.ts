import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  InvalidDataError,
  InvalidDataPathError,
  deepMerge,
  getPath,
  parsePath,
  removePath,
  setPath,
} from './data-paths.js';
import { jsonDepth, jsonSize, type JsonObject } from '../json/json.js';

/** Data as parsed from a request, in which `__proto__` is an own member. */
const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}

describe('parsePath', () => {
  it.each([
    ['a', ['a']],
    ['a.b[0].c', ['a', 'b', 0, 'c']],
    ['a[0][12]', ['a', 0, 12]],
    ['fields["Credit Score"].x', ['fields', 'Credit Score', 'x']],
    ["fields['a.b']", ['fields', 'a.b']],
    ['first-name.größe', ['first-name', 'größe']],
  ])('reads %s', (path, segments) => {
    expect(parsePath(path)).toEqual(segments);
  });

  it.each([
    '',
    '.',
    '.a',
    'a.',
    'a..b',
    'a[',
    'a[]',
    'a[x]',
    'a[-1]',
    'a]b',
    'a[0]b',
    'a["b',
    'a.[0]',
    ' ',
    'a["b\']',
  ])('rejects %j', (path) => {
    expect(() => parsePath(path)).toThrow(InvalidDataPathError);
  });

  it.each(['__proto__', 'a.constructor', 'a["prototype"].b'])('rejects the prototype key in %s', (path) => {
    expect(() => parsePath(path)).toThrow(/no field may have/);
  });

  it('bounds length, steps and indexes', () => {
    expect(parsePath('a[9999]')).toEqual(['a', 9999]);
    expect(() => parsePath('a[10000]')).toThrow(/index is at most/);
    expect(() => parsePath('a'.repeat(1025))).toThrow(/1024 characters/);
    expect(parsePath(Array(64).fill('a').join('.'))).toHaveLength(64);
    expect(() => parsePath(Array(65).fill('a').join('.'))).toThrow(/65 steps/);
  });
});

describe('getPath', () => {
  const data = frozen({ a: { b: [{ c: 1 }, null] }, zero: 0, no: null });

  it.each<[string, unknown]>([
    ['a.b[0].c', 1],
    ['a.b[1]', null],
    ['zero', 0],
    ['no', null],
    ['no.x', undefined],
    ['a.b[2].c', undefined],
    ['a.b.length', undefined],
    ['a[0]', undefined],
    ['zero.toFixed', undefined],
    ['toString', undefined],
    ['a.b.map', undefined],
  ])('finds at %s: %j', (path, value) => {
    expect(getPath(data, path)).toBe(value);
  });

  it('never reaches a prototype, even with steps that were not parsed', () => {
    expect(() => getPath(parsed('{"__proto__": 1}'), ['__proto__'])).toThrow(InvalidDataPathError);
    expect(() => getPath({}, ['constructor', 'name'])).toThrow(InvalidDataPathError);
  });
});

describe('setPath', () => {
  it('copies what it changes and shares the rest', () => {
    const data = frozen({ a: { b: 1 }, other: { c: 2 } });
    const result = setPath(data, 'a.b', 5);
    expect(result).toEqual({ a: { b: 5 }, other: { c: 2 } });
    expect(result.other).toBe(data.other);
    expect(data.a.b).toBe(1);
  });

  it('creates missing objects and arrays, and fills skipped elements with null', () => {
    expect(setPath({}, 'a.b[2].c', 1)).toEqual({ a: { b: [null, null, { c: 1 }] } });
  });

  it('replaces values that are not objects or arrays', () => {
    expect(setPath(frozen({ a: 'text', l: { x: 1 } }), 'a.b', 1)).toEqual({ a: { b: 1 }, l: { x: 1 } });
    expect(setPath(frozen({ l: { x: 1 } }), 'l[0]', 1)).toEqual({ l: [1] });
  });

  it('rejects prototype keys and a path that starts with an index', () => {
    expect(() => setPath({}, 'a.__proto__.b', 1)).toThrow(InvalidDataPathError);
    expect(() => setPath({}, ['a', '__proto__', 'b'], 1)).toThrow(InvalidDataPathError);
    expect(() => setPath({}, '[0]', 1)).toThrow(InvalidDataPathError);
    expect(({} as JsonObject).b).toBeUndefined();
  });

  it('is undone by removePath and read by getPath', () => {
    const name = fc.string({ minLength: 1, maxLength: 5 }).filter((text) => /^[a-z]+$/.test(text));
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), fc.jsonValue(), (path, value) => {
        const written = path.join('.');
        const data = setPath(frozen({ other: 1 }), `x.${written}`, value);
        expect(getPath(data, `x.${written}`)).toEqual(value);
        expect(getPath(removePath(data, `x.${written}`), `x.${written}`)).toBeUndefined();
      }),
    );
  });
});

describe('removePath', () => {
  it('removes members and elements', () => {
    const data = frozen({ a: { b: 1, c: 2 }, l: [1, { x: 1, y: 2 }, 3] });
    expect(removePath(data, 'a.b')).toEqual({ a: { c: 2 }, l: data.l });
    expect(removePath(data, 'l[1]')).toEqual({ a: data.a, l: [1, 3] });
    expect(removePath(data, 'l[1].x')).toEqual({ a: data.a, l: [1, { y: 2 }, 3] });
    expect(removePath(frozen({ a: null }), 'a')).toEqual({});
  });

  it('returns the same data when the path does not exist', () => {
    const data = frozen({ a: 1 });
    expect(removePath(data, 'a.b.c')).toBe(data);
    expect(removePath(data, 'l[0]')).toBe(data);
  });
});

describe('deepMerge', () => {
  it('merges objects and replaces everything else', () => {
    const base = frozen({ a: { b: 1, c: { d: 1 } }, list: [1, 2, 3], text: 'x', gone: { y: 1 } });
    const patch = frozen({
      a: { c: { e: 2 } },
      list: [{ z: 1 }],
      text: { t: 1 },
      gone: null,
      fresh: { n: [1] },
    });
    expect(deepMerge(base, patch)).toEqual({
      a: { b: 1, c: { d: 1, e: 2 } },
      list: [{ z: 1 }],
      text: { t: 1 },
      gone: null,
      fresh: { n: [1] },
    });
  });

  it('copies the patch, so that changing it later does not change the data', () => {
    const patch = { a: { b: [{ c: 1 }] } };
    const result = deepMerge({}, patch);
    patch.a.b.push({ c: 2 });
    expect(result).toEqual({ a: { b: [{ c: 1 }] } });
  });

  it.each(['{"__proto__": {"x": 1}}', '{"a": [{"constructor": 1}]}', '{"a": {"prototype": null}}'])(
    'rejects %s',
    (patch) => {
      expect(() => deepMerge({ a: {} }, parsed(patch))).toThrow(InvalidDataError);
      expect(({} as JsonObject).x).toBeUndefined();
    },
  );

  it('does not merge into inherited members', () => {
    expect(deepMerge({}, parsed('{"valueOf": {"x": 1}}'))).toEqual({ valueOf: { x: 1 } });
    expect(getPath({}, 'valueOf')).toBeUndefined();
    expect(Reflect.get(Object.prototype, 'valueOf')).not.toHaveProperty('x');
  });

  it('rejects data nested too deeply', () => {
    expect(() => deepMerge({}, parsed(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`))).toThrow(/64 levels/);
    expect(() => deepMerge({}, parsed(`{"a":${'['.repeat(100)}${']'.repeat(100)}}`))).toThrow(/64 levels/);
  });
});

describe('jsonSize and jsonDepth', () => {
  it('counts bytes of UTF-8 text', () => {
    expect(jsonSize({ a: 'ö' })).toBe(10);
    expect(jsonSize('\ud800')).toBe(8);
    expect(jsonSize(undefined)).toBe(0);
  });

  it('counts levels', () => {
    expect(jsonDepth(1)).toBe(0);
    expect(jsonDepth(null)).toBe(0);
    expect(jsonDepth([])).toBe(1);
    expect(jsonDepth({ a: [1, { b: 2 }], c: 1 })).toBe(3);
    expect(jsonDepth(JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`))).toBe(5000);
  });
});

describe('the charge for a copy', () => {
  const wide = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`m${index}`, index]));
  const paid = (copy: (pay: (members: number) => void) => unknown): number => {
    let sum = 0;
    copy((members) => (sum += members));
    return sum;
  };

  it.each<[string, number, (pay: (members: number) => void) => unknown]>([
    ['the objects along the path of a value', 101, (pay) => setPath({ a: wide }, 'a.b', 1, pay)],
    [
      'the elements along the path',
      21,
      (pay) => setPath({ a: Array.from({ length: 320 }, () => 1) }, 'a[0]', 1, pay),
    ],
    ['the objects along the path of a removed value', 101, (pay) => removePath({ a: wide }, 'a.m1', pay)],
    ['nothing when the path does not exist', 0, (pay) => removePath({ a: wide }, 'b.c', pay)],
    ['base and patch at each level', 202, (pay) => deepMerge({ a: wide }, { a: { ...wide } }, pay)],
    ['the elements of a patch', 26, (pay) => deepMerge({}, { a: Array.from({ length: 100 }, () => 1) }, pay)],
  ])('counts %s', (_what, members, copy) => {
    expect(paid(copy)).toBe(members);
  });

  it('is made before the copy', () => {
    const refuse = (): void => {
      throw new Error('no');
    };
    expect(() => setPath({ a: wide }, 'a.b', 1, refuse)).toThrow('no');
    expect(() => deepMerge({ a: wide }, { b: 1 }, refuse)).toThrow('no');
  });
});
