import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addressKey } from './address-rate-limit.middleware.js';
import { RateLimitExceededError } from './rate-limit.errors.js';
import { RateLimiter } from './rate-limiter.js';

const limit = (max: number) => ({ name: 'RATE_LIMIT_PRINCIPAL_PER_MINUTE', max });

describe('RateLimiter', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('rejects requests beyond the limit until the minute is over, with the time to wait', () => {
    const sut = new RateLimiter(limit(2));
    void sut.consume('a');
    void sut.consume('a');
    vi.advanceTimersByTime(15_000);
    expect(() => sut.consume('a')).toThrow(
      expect.objectContaining({
        retryAfterSeconds: 45,
        code: 'RATE_LIMIT_EXCEEDED',
      }),
    );
    vi.advanceTimersByTime(45_000);
    expect(() => void sut.consume('a')).not.toThrow();
  });

  it('counts each key separately', () => {
    const sut = new RateLimiter(limit(1));
    void sut.consume('a');
    void sut.consume('b');
    expect(() => sut.consume('a')).toThrow(RateLimitExceededError);
  });

  it('forgets the key whose minute ends soonest when there are too many', () => {
    const sut = new RateLimiter(limit(1), '', undefined, 2);
    void sut.consume('a');
    vi.advanceTimersByTime(10);
    void sut.consume('b');
    void sut.consume('c');
    expect(() => sut.consume('b')).toThrow(RateLimitExceededError);
    expect(() => sut.consume('c')).toThrow(RateLimitExceededError);
    expect(() => void sut.consume('a')).not.toThrow();
  });

  it('restarts the count of a key that was forgotten, and keeps forgetting in order', () => {
    const sut = new RateLimiter(limit(1), '', undefined, 2);
    for (let round = 0; round < 5; round += 1) {
      for (const key of ['a', 'b', 'c']) {
        expect(() => sut.consume(key)).not.toThrow();
        expect(() => sut.consume(key)).toThrow(RateLimitExceededError);
      }
    }
  });

  it('has no limit at 0', () => {
    const sut = new RateLimiter(limit(0));
    expect(() => Array.from({ length: 1_000 }, () => sut.consume('a'))).not.toThrow();
  });
});

describe('addressKey', () => {
  it.each([
    ['203.0.113.1', '203.0.113.1'],
    ['::ffff:203.0.113.1', '203.0.113.1'],
    ['2001:db8:0:1::1', '20010db800000001'],
    ['2001:db8:0:1:ffff:ffff:ffff:ffff', '20010db800000001'],
    ['fe80::1%eth0', 'fe80000000000000'],
    ['', ''],
  ])('of %s is %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});
