import { describe, expect, it } from 'vitest';
import { statementBatches } from './statement-batches.js';

const MEGABYTE = 1_048_576;

function sizesOf(bytes: readonly number[]): number[] {
  return [...statementBatches(bytes, (size) => size)].map(({ length }) => length);
}

describe('statementBatches', () => {
  it('returns batches of at most 500 rows and one megabyte, and of at least one row', () => {
    expect(sizesOf([])).toEqual([]);
    expect(sizesOf(Array.from({ length: 1_001 }, () => 1))).toEqual([500, 500, 1]);
    expect(sizesOf([MEGABYTE / 2, MEGABYTE / 2, 1])).toEqual([2, 1]);
    expect(sizesOf([1, 3 * MEGABYTE, 1, 1])).toEqual([1, 1, 2]);
  });

  it('keeps the order of the rows', () => {
    const rows = [1, 2 * MEGABYTE, 3, 4];
    expect([...statementBatches(rows, (size) => size)].flat()).toEqual(rows);
  });
});
