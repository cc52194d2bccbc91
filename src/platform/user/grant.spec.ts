import { describe, expect, it } from 'vitest';
import { covers, isLimited, mayFor, combineGrants, type Grant } from './grant.js';

const some = (ids: string[], patterns: string[] = []): Grant => ({ ids: new Set(ids), patterns });

describe('grants', () => {
  it.each([
    ['loans', 'loans', true],
    ['loans', 'loans2', false],
    ['loans-*', 'loans-', true],
    ['loans-*', 'loans-eu', true],
    ['loans-*', 'loans', false],
    ['loans-*', 'Loans-eu', false],
    ['loans-*', 'my-loans-eu', false],
    ['*-eu', 'loans-eu', true],
    ['*-eu', 'loans-eu.1', false],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'axbxbxc', true],
    ['a*b*c', 'axc', false],
    ['a*b*c', 'acb', false],
    ['ab*ba', 'aba', false],
    ['a*b*b', 'ab', false],
    ['l.ans*', 'loans', false],
    ['l_ans*', 'loans', false],
    ['**x', 'x', true],
  ])('pattern %s and application %s: %s', (pattern, appId, expected) => {
    expect(covers(some([], [pattern]), appId)).toBe(expected);
  });

  it('match patterns without backtracking', () => {
    expect(covers(some([], ['*a'.repeat(30) + 'b']), 'a'.repeat(64))).toBe(false);
  });

  it('cover all applications, or those that they name', () => {
    expect(covers('all', 'any')).toBe(true);
    expect(covers(some(['a', 'b']), 'b')).toBe(true);
    expect(covers(some(['a', 'b']), 'A')).toBe(false);
  });

  it('are combined, to undefined if none names an application', () => {
    expect(combineGrants([])).toBeUndefined();
    expect(combineGrants([some([])])).toBeUndefined();
    expect(combineGrants([some(['a']), 'all'])).toBe('all');
    expect(combineGrants([some(['a'], ['x*']), some(['b'], ['x*'])])).toEqual(some(['a', 'b'], ['x*']));
  });

  it('decide what a caller may do', () => {
    const caller = {
      permissions: new Map<string, Grant>([
        ['p', some(['a'])],
        ['q', 'all'],
      ]),
    };
    expect([mayFor(caller, 'p', 'a'), mayFor(caller, 'p', 'b'), mayFor(caller, 'q', 'b')]).toEqual([
      true,
      false,
      true,
    ]);
    expect(mayFor(caller, 'r', 'a')).toBe(false);
    expect([isLimited(caller, 'p'), isLimited(caller, 'q'), isLimited(caller, 'r')]).toEqual([
      true,
      false,
      true,
    ]);
  });
});
