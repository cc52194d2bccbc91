import { describe, expect, it } from 'vitest';
import { matches } from '../../packages/client/src/testing/expectation.js';
import { addDuration } from '../../packages/client/src/testing/time.js';

describe('addDuration', () => {
  it.each([
    ['PT30M', '2030-01-31T08:30:00.000Z'],
    ['P1DT1.5S', '2030-02-01T08:00:01.500Z'],
    ['P2W', '2030-02-14T08:00:00.000Z'],
    ['P1M', '2030-02-28T08:00:00.000Z'],
    ['P1Y2M', '2031-03-31T08:00:00.000Z'],
  ])('adds %s with calendar arithmetic', (duration, expected) => {
    expect(addDuration(new Date('2030-01-31T08:00:00Z'), duration).toISOString()).toBe(expected);
  });

  it.each(['', 'P', 'PT', '14D', 'P1H', 'P1DT', '-P1D'])('rejects %j, which is not a duration', (text) => {
    expect(() => addDuration(new Date(), text)).toThrow(`${text} is not a duration`);
  });
});

describe('matches', () => {
  it.each([
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{}, { a: undefined }, true],
    [[{ a: 1, b: 2 }], [{ a: 1 }], true],
    [[1, 2], [1], false],
    ['Hello Ada', /^Hello/, true],
    [7, /7/, false],
    [null, {}, false],
  ])('compares %j with %j: %j', (actual, expected, outcome) => {
    expect(matches(actual, expected)).toBe(outcome);
  });
});
