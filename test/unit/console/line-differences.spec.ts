import { describe, expect, it } from 'vitest';
import { pairLines } from '../../../packages/console/src/parts/line-differences.js';

const pairs = (before: string, after: string) =>
  pairLines(before, after).map((pair) => [pair.before, pair.after, pair.isSame]);

describe('pairLines', () => {
  it('aligns equal lines, and pairs changed lines', () => {
    expect(pairs('a\nb\nc\nd', 'a\nx\nc\ny\nd')).toEqual([
      ['a', 'a', true],
      ['b', 'x', false],
      ['c', 'c', true],
      [undefined, 'y', false],
      ['d', 'd', true],
    ]);
  });

  it('pairs the lines of very long texts by position', () => {
    const long = Array.from({ length: 1_000 }, (_none, index) => String(index)).join('\n');
    const found = pairs(long, `${long}\nend`);
    expect(found).toHaveLength(1_001);
    expect(found.at(-1)).toEqual([undefined, 'end', false]);
  });
});
