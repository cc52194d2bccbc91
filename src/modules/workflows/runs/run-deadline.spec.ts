import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunDeadline } from './run-deadline.js';

describe('RunDeadline', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('ends a run when its time is over, as a failure of the run', () => {
    const deadline = new RunDeadline(new AbortController().signal, 100);
    vi.advanceTimersByTime(99);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.reason).toMatchObject({
      code: 'WORKFLOW_DEADLINE',
      message: 'The run took longer than 100 ms.',
    });
  });

  it.each(['before', 'after'])('passes on what stopped the caller %s it began', (when) => {
    const caller = new AbortController();
    const reason = new Error('the replica stops');
    if (when === 'before') {
      caller.abort(reason);
    }
    const deadline = new RunDeadline(caller.signal, 100);
    caller.abort(reason);
    vi.advanceTimersByTime(100);
    expect(deadline.signal.reason).toBe(reason);
  });

  it('leaves nothing behind when it is cleared', () => {
    const caller = new AbortController();
    const deadline = new RunDeadline(caller.signal, 100);
    deadline.clear();
    expect(vi.getTimerCount()).toBe(0);
    caller.abort();
    expect(deadline.signal.aborted).toBe(false);
  });
});
