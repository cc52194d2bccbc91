import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadline } from './deadline.js';

const late = () => Object.assign(new Error('too late'), { code: 'LATE' });

describe('Deadline', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('ends the work when its time is over, for a reason of its own', () => {
    const deadline = new Deadline(new AbortController().signal, 100, late);
    vi.advanceTimersByTime(99);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.reason).toMatchObject({ code: 'LATE', message: 'too late' });
  });

  it.each(['before', 'after'])('passes on what stopped the caller %s it began', (when) => {
    const caller = new AbortController();
    const reason = new Error('the replica stops');
    if (when === 'before') {
      caller.abort(reason);
    }
    const deadline = new Deadline(caller.signal, 100, late);
    caller.abort(reason);
    vi.advanceTimersByTime(100);
    expect(deadline.signal.reason).toBe(reason);
  });

  it('leaves nothing behind when it is cleared', () => {
    const caller = new AbortController();
    const deadline = new Deadline(caller.signal, 100, late);
    deadline.clear();
    expect(vi.getTimerCount()).toBe(0);
    caller.abort();
    expect(deadline.signal.aborted).toBe(false);
  });
});
