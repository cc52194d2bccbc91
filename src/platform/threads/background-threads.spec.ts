import { readdirSync } from 'node:fs';
import { getPriority, platform } from 'node:os';
import { describe, expect, it } from 'vitest';
import { yieldToMainThread } from './start-thread.js';

describe.skipIf(platform() !== 'linux')('yieldToMainThread', () => {
  it('lowers the priority of every thread except the main one', () => {
    const before = getPriority(process.pid);
    yieldToMainThread(before + 1);
    const others = readdirSync('/proc/self/task')
      .map(Number)
      .filter((thread) => thread !== process.pid);
    expect(getPriority(process.pid)).toBe(before);
    expect(others.length).toBeGreaterThan(0);
    expect(new Set(others.map((thread) => getPriority(thread)))).toEqual(new Set([before + 1]));
  });
});
