import { describe, expect, it } from 'vitest';
import { ValidationFailedError } from '../errors/request.errors.js';
import { IsPathId } from './patterns.decorators.js';
import { RequestValidationPipe } from './request-validation.pipe.js';

class OneParams {
  @IsPathId('Id.')
  id: string;
}

class FirstParam {
  @IsPathId('Id.')
  a: string;
}

class ThreeParams extends FirstParam {
  @IsPathId('Id.')
  b: string;

  @IsPathId('Id.')
  c: string;
}

const read = async (params: Record<string, unknown>): Promise<unknown> =>
  new RequestValidationPipe().transform(params, {
    type: 'param',
    metatype: 'id' in params ? OneParams : ThreeParams,
  });

/** Returns the problems of the parameters. */
async function problemsOf(params: Record<string, unknown>): Promise<string | undefined> {
  try {
    await read(params);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationFailedError);
    return (error as ValidationFailedError).details;
  }
}

describe('an identifier in a path', () => {
  it('is returned by its name', async () => {
    expect(await read({ a: 'A-1', b: 'b_2', c: 'x' })).toEqual({ a: 'A-1', b: 'b_2', c: 'x' });
  });

  it.each(['a', '...', '__proto__', '0', 'a'.repeat(64), 'Az09._-'])('accepts %j', async (value) => {
    expect(await problemsOf({ id: value })).toBeUndefined();
  });

  it.each(['', 'a'.repeat(65), 'a b', 'a/b', 'ä', 'a\n', '\u0000', '😀', 'a:b', 'a%', ['a', 'b']])(
    'rejects %j',
    async (value) => {
      expect(await problemsOf({ id: value })).toBe('id: must be 1 to 64 letters, digits, ".", "_" or "-"');
    },
  );

  it.each(['.', '..'])('explains what is wrong with %j', async (value) => {
    expect(await problemsOf({ id: value })).toBe(
      'id: must not be "." or "..", which are relative segments of a path',
    );
  });

  it('is reported with all others that break the rule, in the order of the path', async () => {
    expect(await problemsOf({ a: ' ', b: 'ok', c: '' })).toMatch(/^a: .*; c: /);
  });
});
