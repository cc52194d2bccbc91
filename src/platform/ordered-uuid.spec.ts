import { describe, expect, it } from 'vitest';
import { orderedUuid } from './ordered-uuid.js';

describe('orderedUuid', () => {
  it('is unique and ordered within one millisecond', () => {
    const time = new Date('2026-01-31T10:20:30.123Z');
    const ids = Array.from({ length: 10_000 }, () => orderedUuid(time));
    expect(ids).toEqual([...new Set(ids)].toSorted());
  });

  it('begins with its time', () => {
    expect(orderedUuid(new Date(0x0123_4567_89ab))).toMatch(/^01234567-89ab-7/);
  });
});
