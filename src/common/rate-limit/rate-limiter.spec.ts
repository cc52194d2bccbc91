import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addressKey } from './address-rate-limit.middleware.js';
import { RateLimitExceededError } from './rate-limit.errors.js';
import { RateLimiter } from './rate-limiter.js';

describe('RateLimiter', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('takes the requests of a minute, then says how long to wait, then takes them again', async () => {
    const sut = new RateLimiter(2);
    await sut.consume('a');
    await sut.consume('a');
    vi.advanceTimersByTime(15_000);
    await expect(sut.consume('a')).rejects.toMatchObject({
      retryAfterSeconds: 45,
      code: 'RATE_LIMIT_EXCEEDED',
    });
    vi.advanceTimersByTime(45_000);
    await expect(sut.consume('a')).resolves.toBeUndefined();
  });

  it('counts each key for itself', async () => {
    const sut = new RateLimiter(1);
    await sut.consume('a');
    await sut.consume('b');
    await expect(sut.consume('a')).rejects.toBeInstanceOf(RateLimitExceededError);
  });

  it('forgets the key whose minute ends soonest when there are too many', async () => {
    const sut = new RateLimiter(1, 2);
    await sut.consume('a');
    vi.advanceTimersByTime(10);
    await sut.consume('b');
    await sut.consume('c');
    await expect(sut.consume('b')).rejects.toBeInstanceOf(RateLimitExceededError);
    await expect(sut.consume('c')).rejects.toBeInstanceOf(RateLimitExceededError);
    await expect(sut.consume('a')).resolves.toBeUndefined();
  });

  it('counts a key anew after it was forgotten, and forgets in order again and again', async () => {
    const sut = new RateLimiter(1, 2);
    for (let round = 0; round < 5; round += 1) {
      for (const key of ['a', 'b', 'c']) {
        await expect(sut.consume(key)).resolves.toBeUndefined();
        await expect(sut.consume(key)).rejects.toBeInstanceOf(RateLimitExceededError);
      }
    }
  });

  it('has no limit at 0', async () => {
    const sut = new RateLimiter(0);
    await Promise.all(Array.from({ length: 1_000 }, () => sut.consume('a')));
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
