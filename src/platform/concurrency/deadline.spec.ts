import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadline } from './deadline.js';

const late = () => Object.assign(new Error('too late'), { code: 'LATE' });

describe('Deadline', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('aborts with its own reason when the time is up', () => {
    const deadline = new Deadline(new AbortController().signal, 100, late);
    vi.advanceTimersByTime(99);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.reason).toMatchObject({ code: 'LATE', message: 'too late' });
  });

  it.each(['before', 'after'])('passes on the reason of an outer abort %s the start', (when) => {
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

  it('leaves no timer or listener when cleared', () => {
    const caller = new AbortController();
    const deadline = new Deadline(caller.signal, 100, late);
    deadline.clear();
    expect(vi.getTimerCount()).toBe(0);
    caller.abort();
    expect(deadline.signal.aborted).toBe(false);
  });
});
