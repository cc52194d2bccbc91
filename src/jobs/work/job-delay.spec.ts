import { describe, expect, it } from 'vitest';
import { pollDelay } from './job-delay.js';

describe('pollDelay', () => {
  it('grows from 50 ms to the limit', () => {
    expect([0, 1, 2, 3, 1_000].map((idle) => pollDelay(idle, 200, 1))).toEqual([50, 100, 200, 200, 200]);
    expect(pollDelay(0, 200, 0)).toBe(25);
    expect(pollDelay(0, 10, 1)).toBe(10);
  });
});
