import { describe, expect, it } from 'vitest';
import { ValidationFailedError } from '../errors/request.errors.js';
import { requirePathIds } from './path-ids.js';

/** What is said about the named parameters. */
function problemsOf(params: Record<string, unknown>, names: readonly string[]): string | undefined {
  try {
    requirePathIds(params, names);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationFailedError);
    return (error as ValidationFailedError).details;
  }
}

describe('requirePathIds', () => {
  it('returns the values in the order of the names', () => {
    expect(requirePathIds({ a: 'A-1', b: 'b_2', c: 'x' }, ['b', 'a'])).toEqual(['b_2', 'A-1']);
  });

  it.each(['a', '...', '__proto__', '0', 'a'.repeat(64), 'Az09._-'])('takes %j', (value) => {
    expect(problemsOf({ id: value }, ['id'])).toBeUndefined();
  });

  it.each(['', 'a'.repeat(65), 'a b', 'a/b', 'ä', 'a\n', '\u0000', '😀', 'a:b', 'a%', ['a', 'b']])(
    'refuses %j',
    (value) => {
      expect(problemsOf({ id: value }, ['id'])).toBe('id: must be 1 to 64 letters, digits, ".", "_" or "-"');
    },
  );

  it.each(['.', '..'])('says what is wrong with %j', (value) => {
    expect(problemsOf({ id: value }, ['id'])).toBe(
      'id: must not be "." or "..", which mean a place in a path',
    );
  });

  it('names every identifier that breaks the rule', () => {
    expect(problemsOf({ a: ' ', b: 'ok', c: '' }, ['a', 'b', 'c'])).toMatch(/^a: .*; c: /);
  });
});
