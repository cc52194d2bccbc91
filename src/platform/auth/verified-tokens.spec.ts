import { describe, expect, it } from 'vitest';
import type { Principal } from '../user/principal.js';
import { VerifiedTokens } from './verified-tokens.js';

const principal: Principal = {
  issuer: 'i',
  subject: 's',
  user: { firstName: '', lastName: '', userName: 's', impersonatingUser: null },
  permissions: new Map(),
};

describe('VerifiedTokens', () => {
  it('keeps a token for at most a minute, however often it is used', () => {
    const sut = new VerifiedTokens();
    sut.remember('t', principal, { expiresAt: 1_000_000, now: 0, keys: 1 });
    expect(sut.find('t', { now: 30_000, keys: 1 })).toBe(principal);
    expect(sut.find('t', { now: 59_999, keys: 1 })).toBe(principal);
    expect(sut.find('t', { now: 60_000, keys: 1 })).toBeUndefined();
  });

  it('forgets a token when it expires', () => {
    const sut = new VerifiedTokens();
    sut.remember('t', principal, { expiresAt: 5_000, now: 0, keys: 1 });
    expect(sut.find('t', { now: 4_999, keys: 1 })).toBe(principal);
    expect(sut.find('t', { now: 5_000, keys: 1 })).toBeUndefined();
  });

  it('does not keep a token that is valid only by clock tolerance', () => {
    const sut = new VerifiedTokens();
    sut.remember('t', principal, { expiresAt: 5_000, now: 6_000, keys: 1 });
    expect(sut.find('t', { now: 6_000, keys: 1 })).toBeUndefined();
  });

  it('evicts the least recently used token', () => {
    const sut = new VerifiedTokens(2);
    sut.remember('a', principal, { expiresAt: 9_000, now: 0, keys: 1 });
    sut.remember('b', principal, { expiresAt: 9_000, now: 0, keys: 1 });
    sut.find('a', { now: 1, keys: 1 });
    sut.remember('c', principal, { expiresAt: 9_000, now: 2, keys: 1 });
    expect(['a', 'b', 'c'].map((token) => sut.find(token, { now: 3, keys: 1 }) !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('does not confuse two tokens', () => {
    const sut = new VerifiedTokens();
    sut.remember('t', principal, { expiresAt: 9_000, now: 0, keys: 1 });
    expect(sut.find('T', { now: 1, keys: 1 })).toBeUndefined();
  });

  it('forgets tokens when the keys of the issuer change', () => {
    const sut = new VerifiedTokens();
    sut.remember('t', principal, { expiresAt: 1_000_000, now: 0, keys: 1 });
    expect(sut.find('t', { now: 1, keys: 2 })).toBeUndefined();
    expect(sut.find('t', { now: 2, keys: 1 })).toBeUndefined();
  });
});
