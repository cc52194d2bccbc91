import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { JobSignal } from './job-signal.js';

describe('JobSignal', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends all waits immediately', async () => {
    const signal = new JobSignal();
    const waits = [signal.wait(signal.seen, 60_000), signal.wait(signal.seen, 60_000)];
    signal.wake();
    await Promise.all(waits);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not missed by a worker that was looking for work', async () => {
    const signal = new JobSignal();
    const { seen } = signal;
    signal.wake();
    await signal.wait(seen, 60_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends a wait after its limit', async () => {
    const signal = new JobSignal();
    let isOver = false;
    const wait = signal.wait(signal.seen, 1_000).then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await wait;
  });
});
