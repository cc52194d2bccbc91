import { describe, expect, it } from 'vitest';
import { LruCache } from './lru-cache.js';

const cache = (entries: number, bytes: number) => {
  const evicted: string[] = [];
  return {
    evicted,
    sut: new LruCache<number, string>({ entries, bytes }, (value) => evicted.push(value)),
  };
};

describe('LruCache', () => {
  it('evicts the least recently used value beyond the maximum count', () => {
    const { sut, evicted } = cache(2, 1_000);
    sut.set(1, 'one', 1);
    sut.set(2, 'two', 1);
    sut.get(1);
    sut.set(3, 'three', 1);
    expect(evicted).toEqual(['two']);
    expect([sut.get(1), sut.get(2), sut.get(3)]).toEqual(['one', undefined, 'three']);
  });

  it('evicts as many values as needed beyond the maximum size', () => {
    const { sut, evicted } = cache(100, 10);
    sut.set(1, 'one', 4);
    sut.set(2, 'two', 4);
    sut.set(3, 'three', 9);
    expect(evicted).toEqual(['one', 'two']);
    sut.set(4, 'four', 1);
    expect(sut.size).toBe(2);
  });

  it('keeps a value larger than the cache until the next one is added', () => {
    const { sut, evicted } = cache(100, 10);
    sut.set(1, 'large', 50);
    expect(sut.get(1)).toBe('large');
    sut.set(2, 'small', 1);
    expect(evicted).toEqual(['large']);
    sut.set(3, 'small too', 9);
    expect(sut.size).toBe(2);
  });

  it('removes a value with its size, without onEvict', () => {
    const { sut, evicted } = cache(100, 10);
    sut.set(1, 'one', 6);
    sut.delete(1);
    sut.delete(1);
    sut.set(2, 'two', 6);
    sut.set(3, 'three', 4);
    expect([sut.get(1), sut.size, evicted]).toEqual([undefined, 2, []]);
  });
});
