import { describe, expect, it } from 'vitest';
import type { Principal } from './principal.js';
import { VerifiedTokens } from './verified-tokens.js';

const principal: Principal = {
  issuer: 'i',
  subject: 's',
  user: { firstName: '', lastName: '', userName: 's', impersonatingUser: null },
  permissions: new Set(),
};

describe('VerifiedTokens', () => {
  it('remembers a token for a minute at the most, however often it is asked for', () => {
    const sut = new VerifiedTokens();
    sut.remember('t', principal, 1_000_000, 0);
    expect(sut.find('t', 30_000)).toBe(principal);
    expect(sut.find('t', 59_999)).toBe(principal);
    expect(sut.find('t', 60_000)).toBeUndefined();
  });

  it('forgets a token when it expires', () => {
    const sut = new VerifiedTokens();
    sut.remember('t', principal, 5_000, 0);
    expect(sut.find('t', 4_999)).toBe(principal);
    expect(sut.find('t', 5_000)).toBeUndefined();
  });

  it('does not remember a token that lives only by clock tolerance', () => {
    const sut = new VerifiedTokens();
    sut.remember('t', principal, 5_000, 6_000);
    expect(sut.find('t', 6_000)).toBeUndefined();
  });

  it('makes room by forgetting the token used longest ago', () => {
    const sut = new VerifiedTokens(2);
    sut.remember('a', principal, 9_000, 0);
    sut.remember('b', principal, 9_000, 0);
    sut.find('a', 1);
    sut.remember('c', principal, 9_000, 2);
    expect(['a', 'b', 'c'].map((token) => sut.find(token, 3) !== undefined)).toEqual([true, false, true]);
  });

  it('does not take one token for another', () => {
    const sut = new VerifiedTokens();
    sut.remember('t', principal, 9_000, 0);
    expect(sut.find('T', 1)).toBeUndefined();
  });
});
