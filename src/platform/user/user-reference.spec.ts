import { describe, expect, it } from 'vitest';
import { userReferenceFrom } from './user-reference.js';

describe('userReferenceFrom', () => {
  it('reads the names from the standard claims', () => {
    const claims = {
      given_name: 'Jane',
      family_name: 'Doe',
      preferred_username: 'jane',
      email: 'j@x',
      sub: '1',
    };
    expect(userReferenceFrom(claims)).toEqual({
      firstName: 'Jane',
      lastName: 'Doe',
      userName: 'jane',
      impersonatingUser: null,
    });
  });

  it.each([
    [{ preferred_username: 'p', email: 'e', client_id: 'c', sub: 's' }, 'p'],
    [{ email: 'e', client_id: 'c', sub: 's' }, 'e'],
    [{ client_id: 'c', sub: 's' }, 'c'],
    [{ sub: 's' }, 's'],
    [{ preferred_username: '', sub: 's' }, 's'],
    [{ preferred_username: '  ', sub: 's' }, 's'],
    [{ preferred_username: 7, email: { a: 1 }, client_id: ['c'], sub: 's' }, 's'],
    [{}, ''],
  ])('finds the user name in %j', (claims, userName) => {
    expect(userReferenceFrom(claims)).toMatchObject({ firstName: '', lastName: '', userName });
  });

  it('names the actor of a delegated token', () => {
    const claims = { sub: 's', act: { sub: 'admin', given_name: 'Ad', act: { sub: 'deeper' } } };
    expect(userReferenceFrom(claims).impersonatingUser).toEqual({
      firstName: 'Ad',
      lastName: '',
      userName: 'admin',
    });
  });

  it.each([['text'], [7], [null], [[]], [{}], [{ sub: 7 }]])('finds no actor in %j', (act) => {
    expect(userReferenceFrom({ sub: 's', act }).impersonatingUser).toBeNull();
  });

  it('cuts names to 255 characters without splitting one', () => {
    const { firstName } = userReferenceFrom({ given_name: '😀'.repeat(300) });
    expect(firstName).toBe('😀'.repeat(255));
  });

  it('removes control characters and half surrogate pairs', () => {
    expect(userReferenceFrom({ given_name: 'a\u0000\r\nb\ud800c' }).firstName).toBe('abc');
  });

  it('does not read inherited members', () => {
    const claims = Object.create({ given_name: 'Eve' }) as Record<string, unknown>;
    expect(userReferenceFrom(claims).firstName).toBe('');
  });
});
