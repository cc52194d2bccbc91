import { describe, expect, it } from 'vitest';
import { didYouMean, nearestName } from './nearest-name.js';

describe('nearestName', () => {
  const known = ['applicationId', 'state', 'limit', 'before', 'end'];

  it.each([
    ['aplicationId', 'applicationId'],
    ['STATE', 'state'],
    ['limits', 'limit'],
    ['befor', 'before'],
    ['edn', 'end'],
    ['tsate', 'state'],
  ])('suggests for %s: %s', (written, meant) => {
    expect(nearestName(written, known)).toBe(meant);
  });

  it.each(['', 'buildId', 'somethingElse', 'x'.repeat(100_000)])('finds nothing near "%.20s"', (written) => {
    expect(nearestName(written, known)).toBeUndefined();
    expect(didYouMean(written, known)).toBe('');
  });

  it('ends a sentence', () => {
    expect(didYouMean('limits', known)).toBe(' Did you mean "limit"?');
  });
});
