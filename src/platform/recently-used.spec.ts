import { describe, expect, it } from 'vitest';
import { RecentlyUsed } from './recently-used.js';

const cache = (entries: number, bytes: number) => {
  const forgotten: string[] = [];
  return {
    forgotten,
    held: new RecentlyUsed<number, string>({ entries, bytes }, (value) => forgotten.push(value)),
  };
};

describe('RecentlyUsed', () => {
  it('forgets what was not used for longest, by count', () => {
    const { held, forgotten } = cache(2, 1_000);
    held.set(1, 'one', 1);
    held.set(2, 'two', 1);
    held.get(1);
    held.set(3, 'three', 1);
    expect(forgotten).toEqual(['two']);
    expect([held.get(1), held.get(2), held.get(3)]).toEqual(['one', undefined, 'three']);
  });

  it('and by size, as many as it takes', () => {
    const { held, forgotten } = cache(100, 10);
    held.set(1, 'one', 4);
    held.set(2, 'two', 4);
    held.set(3, 'three', 9);
    expect(forgotten).toEqual(['one', 'two']);
    held.set(4, 'four', 1);
    expect(held.size).toBe(2);
  });

  it('holds what is larger than all of it until the next one comes', () => {
    const { held, forgotten } = cache(100, 10);
    held.set(1, 'large', 50);
    expect(held.get(1)).toBe('large');
    held.set(2, 'small', 1);
    expect(forgotten).toEqual(['large']);
    held.set(3, 'small too', 9);
    expect(held.size).toBe(2);
  });

  it('knows no more of what was taken out, nor its size', () => {
    const { held, forgotten } = cache(100, 10);
    held.set(1, 'one', 6);
    held.delete(1);
    held.delete(1);
    held.set(2, 'two', 6);
    held.set(3, 'three', 4);
    expect([held.get(1), held.size, forgotten]).toEqual([undefined, 2, []]);
  });
});
