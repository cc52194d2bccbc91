import { describe, expect, it } from 'vitest';
import { WaitingLine } from './waiting-line.js';

const LONG_MS = 600_000;

describe('WaitingLine', () => {
  it('admits in the order in which they came', async () => {
    const line = new WaitingLine<string>();
    const one = line.wait('one', LONG_MS);
    const two = line.wait('two', LONG_MS);
    expect([line.length, line.first]).toEqual([2, 'one']);
    expect([line.admit(), line.admit(), line.admit()]).toEqual(['one', 'two', undefined]);
    expect(await Promise.all([one, two])).toEqual([true, true]);
    expect(line.first).toBeUndefined();
  });

  it('forgets who is late or gives up', async () => {
    const line = new WaitingLine<string>();
    const impatient = new AbortController();
    const late = line.wait('late', 1);
    const gone = line.wait('gone', LONG_MS, impatient.signal);
    const last = line.wait('last', LONG_MS, new AbortController().signal);
    impatient.abort();
    expect(await Promise.all([late, gone])).toEqual([false, false]);
    expect(await line.wait('never', LONG_MS, impatient.signal)).toBe(false);
    expect([line.length, line.admit()]).toEqual([1, 'last']);
    expect(await last).toBe(true);
  });
});
