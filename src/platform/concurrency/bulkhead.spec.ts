import { describe, expect, it, vi } from 'vitest';
import { Bulkhead, NotAdmittedError } from './bulkhead.js';

const LONG_MS = 600_000;

/** Enters under names, and lists the names in the order in which they are admitted. */
function entering(bulkhead: Bulkhead) {
  const order: string[] = [];
  const enter = (name: string, entry: Parameters<Bulkhead['enter']>[0] = {}): (() => void) => {
    const { admitted, leave } = bulkhead.enter(entry);
    void (admitted ?? Promise.resolve()).then(() => order.push(name)).catch(() => order.push(`not ${name}`));
    return leave;
  };
  return { enter, settled: () => new Promise((resolve) => setImmediate(() => resolve(order.splice(0)))) };
}

describe('Bulkhead', () => {
  it('admits as many entries of a key as fit, and queues the others in order', async () => {
    const bulkhead = new Bulkhead({ capacity: 2 });
    const { enter, settled } = entering(bulkhead);
    const [a, b, c] = ['a', 'b', 'c', 'd'].map((name) => enter(name, { key: 'one' }));
    enter('other', { key: 'two' });
    expect(await settled()).toEqual(['a', 'b', 'other']);
    expect([bulkhead.use, bulkhead.occupied('one'), bulkhead.waiting]).toEqual([
      { all: 3, largest: 2 },
      2,
      2,
    ]);
    b?.();
    b?.();
    expect(await settled()).toEqual(['c']);
    a?.();
    c?.();
    expect(await settled()).toEqual(['d']);
    expect(bulkhead.use).toEqual({ all: 2, largest: 1 });
  });

  it('counts weights, admits a heavier entry alone, and lets no lighter one overtake it', async () => {
    const { enter, settled } = entering(new Bulkhead({ capacity: 10 }));
    const light = enter('light', { weight: 4 });
    const heavy = enter('heavy', { weight: 12 });
    enter('next', { weight: 4 });
    expect(await settled()).toEqual(['light']);
    light();
    expect(await settled()).toEqual(['heavy']);
    heavy();
    expect(await settled()).toEqual(['next']);
  });

  it('rejects entries beyond the queue with a custom error', () => {
    const bulkhead = new Bulkhead({ capacity: 1, queue: 1 }, (refusal) => new RangeError(refusal));
    bulkhead.enter();
    bulkhead.enter();
    expect(() => bulkhead.enter()).toThrow(new RangeError('full'));
    bulkhead.enter({ key: 'other' });
  });

  it('rejects an entry that waits too long or is aborted, and admits the next one', async () => {
    const bulkhead = new Bulkhead({ capacity: 1, waitMs: LONG_MS });
    const { enter, settled } = entering(bulkhead);
    const gone = new AbortController();
    const first = enter('first');
    const late = bulkhead.enter({ waitMs: 1 });
    enter('gone', { signal: gone.signal });
    const left = enter('left');
    enter('last', { signal: new AbortController().signal });
    await expect(late.admitted).rejects.toEqual(new NotAdmittedError('late'));
    gone.abort();
    left();
    expect(await settled()).toEqual(['first', 'not gone']);
    expect(() => bulkhead.enter({ signal: gone.signal })).toThrow(new NotAdmittedError('gone'));
    expect(bulkhead.waiting).toBe(1);
    first();
    expect(await settled()).toEqual(['last']);
  });

  it('runs work in a place and releases it even after a failure', async () => {
    const bulkhead = new Bulkhead({ capacity: 1 });
    const failing = bulkhead.run(() => Promise.reject(new Error('no')));
    const waiting = bulkhead.run((hasWaited) => Promise.resolve(hasWaited));
    await expect(failing).rejects.toThrow('no');
    expect(await waiting).toBe(true);
    expect(await bulkhead.run((hasWaited) => Promise.resolve(hasWaited))).toBe(false);
    expect(bulkhead.occupied()).toBe(0);
  });

  it('revokes the oldest place after its lease, but only while others wait', async () => {
    vi.useFakeTimers();
    const bulkhead = new Bulkhead({ capacity: 1, leaseMs: 100 });
    const onRevoke = vi.fn();
    const { leave } = bulkhead.enter({ onRevoke });
    vi.advanceTimersByTime(1_000);
    expect(onRevoke).not.toHaveBeenCalled();
    const { admitted } = bulkhead.enter();
    vi.advanceTimersByTime(1);
    await admitted;
    expect(onRevoke).toHaveBeenCalledOnce();
    leave();
    expect(bulkhead.occupied()).toBe(1);
    vi.useRealTimers();
  });
});
