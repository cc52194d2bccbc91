import { array, assert, dictionary, jsonValue, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { membersOf, objectText, partsOf } from './json-text.js';
import { inOnePiece } from './turns.js';

describe('partsOf', () => {
  it('answers the items of a list as they stand in its text', () => {
    assert(
      property(array(jsonValue()), (items) => {
        const texts = items.map((item) => JSON.stringify(item));
        expect(inOnePiece(partsOf(`[${texts.join(',')}]`))).toEqual(texts);
      }),
    );
  });

  it('falls into pieces', () => {
    const steps = partsOf(`[${'{},'.repeat(100_000)}[]]`);
    let pieces = 1;
    while (steps.next().done !== true) {
      pieces += 1;
    }
    expect(pieces).toBeGreaterThan(4);
  });
});

describe('membersOf', () => {
  it('answers the members of an object, and objectText puts them together again', () => {
    assert(
      property(dictionary(string(), jsonValue()), (value) => {
        const members = inOnePiece(membersOf(JSON.stringify(value)));
        expect([...members]).toEqual(
          Object.entries(value).map(([name, member]) => [name, JSON.stringify(member)]),
        );
        expect(objectText(Object.fromEntries(members))).toBe(JSON.stringify(value));
      }),
    );
  });
});
