import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { JobSignal } from './job-signal.js';

describe('JobSignal', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends every wait at once', async () => {
    const signal = new JobSignal();
    const waits = [signal.wait(signal.seen, 60_000), signal.wait(signal.seen, 60_000)];
    signal.wake();
    await Promise.all(waits);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not missed by one who was looking for work meanwhile', async () => {
    const signal = new JobSignal();
    const { seen } = signal;
    signal.wake();
    await signal.wait(seen, 60_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets a wait end by itself', async () => {
    const signal = new JobSignal();
    let isOver = false;
    const wait = signal.wait(signal.seen, 1_000).then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await wait;
  });
});
