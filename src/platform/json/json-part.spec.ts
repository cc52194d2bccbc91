import { assert, dictionary, jsonValue as anyJson, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonParts, jsonValue, memberOf, type JsonPart } from './json-part.js';
import { objectText } from '#engine/json';
import { runWithoutYielding } from '#engine/support';

const VALUE = {
  name: 'a "quoted" \\ name: {[,]}',
  'é "x"': { deep: [1, [2, { three: 'äöü\\' }], null, true, -1.5e3], empty: {}, none: [] },
  list: [{ id: 'one', nodes: [{ a: 1 }] }, 'text', false, 0],
};
const LEVELS = 5;

/** Rebuilds the value from its smallest parts. */
function rebuilt(part: JsonPart): unknown {
  const value = part.read();
  if (part.parts.length === 0) {
    return value;
  }
  return Array.isArray(value)
    ? part.parts.map(rebuilt)
    : Object.fromEntries(part.parts.map((member) => [member.name, rebuilt(member)]));
}

function levels({ parts }: JsonPart): number {
  return parts.length === 0 ? 0 : 1 + Math.max(...parts.map(levels));
}

describe('jsonParts', () => {
  it.each([0, 1, 2, 3, 9])('finds the parts of a value down to depth %i', (depth) => {
    const whole = runWithoutYielding(jsonParts(Buffer.from(JSON.stringify(VALUE)), depth));
    expect(whole.read()).toEqual(VALUE);
    expect(rebuilt(whole)).toEqual(VALUE);
    expect(levels(whole)).toBe(Math.min(depth, LEVELS));
  });

  it.each(['{ "a": [1, 2] }', '"text"', '17', '[]', '[ 1, "2", [ 3 ] ]'])('finds the parts of %s', (text) => {
    expect(rebuilt(runWithoutYielding(jsonParts(Buffer.from(text), 2)))).toEqual(JSON.parse(text));
  });

  it('finds the text of each member, and objectText puts them together again', () => {
    assert(
      property(dictionary(string(), anyJson()), (value) => {
        const { parts } = runWithoutYielding(jsonParts(Buffer.from(JSON.stringify(value)), 1));
        const members = parts.map(({ name = '', bytes }) => [name, bytes.toString()] as const);
        expect(objectText(Object.fromEntries(members))).toBe(JSON.stringify(value));
      }),
    );
  });

  it('yields while it scans a large text', () => {
    const text = Buffer.from(JSON.stringify(Array.from({ length: 100_000 }, (_, index) => ({ index }))));
    const steps = jsonParts(text, 1);
    expect(steps.next().done).toBe(false);
    expect(runWithoutYielding(steps).parts).toHaveLength(100_000);
  });

  it('searches only within the part', () => {
    const whole = runWithoutYielding(jsonParts(Buffer.from(JSON.stringify(VALUE)), 2));
    expect(memberOf(whole, 'list')?.includes(Buffer.from('"one"'))).toBe(true);
    expect(memberOf(whole, 'name')?.includes(Buffer.from('"one"'))).toBe(false);
    expect(memberOf(whole, 'other')).toBeUndefined();
  });
});

describe('jsonValue', () => {
  it('parses small and large texts, and yields in large ones', () => {
    const large = {
      list: Array.from({ length: 5_000 }, (_, index) => ({ index, é: 'x'.repeat(20) })),
      deep: [[{ text: 'y'.repeat(100_000), VALUE }]],
      members: Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`k${index}`, [index]])),
      ['__proto__']: null,
    };
    for (const value of [VALUE, large, [], 'z'.repeat(100_000)]) {
      expect(runWithoutYielding(jsonValue(Buffer.from(JSON.stringify(value))))).toEqual(value);
    }
    const steps = jsonValue(Buffer.from(JSON.stringify(large)));
    let count = 0;
    while (steps.next().done !== true) {
      count += 1;
    }
    expect(count).toBeGreaterThan(9_000);
  });
});
