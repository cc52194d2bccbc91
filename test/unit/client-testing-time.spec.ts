import { describe, expect, it } from 'vitest';
import { meets } from '../../packages/client/src/testing/expectation.js';
import { later } from '../../packages/client/src/testing/time.js';

describe('later', () => {
  it.each([
    ['PT30M', '2030-01-31T08:30:00.000Z'],
    ['P1DT1.5S', '2030-02-01T08:00:01.500Z'],
    ['P2W', '2030-02-14T08:00:00.000Z'],
    ['P1M', '2030-02-28T08:00:00.000Z'],
    ['P1Y2M', '2031-03-31T08:00:00.000Z'],
  ])('adds %s by the calendar', (duration, expected) => {
    expect(later(new Date('2030-01-31T08:00:00Z'), duration).toISOString()).toBe(expected);
  });

  it.each(['', 'P', 'PT', '14D', 'P1H', 'P1DT', '-P1D'])('knows that %j is no duration', (text) => {
    expect(() => later(new Date(), text)).toThrow(`${text} is no duration`);
  });
});

describe('meets', () => {
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
  ])('says of %j and %j: %j', (actual, expected, outcome) => {
    expect(meets(actual, expected)).toBe(outcome);
  });
});
