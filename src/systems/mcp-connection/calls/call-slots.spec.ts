import { describe, expect, it } from 'vitest';

import { CallSlots } from './call-slots.js';

const LONG_MS = 600_000;

describe('CallSlots', () => {
  const never = new AbortController().signal;

  it('lets that many in and the others when one leaves, in the order in which they came', async () => {
    const slots = new CallSlots(2);
    const order: string[] = [];
    const enter = async (name: string): Promise<void> => {
      expect(slots.tryEnter('a') || (await slots.wait('a', LONG_MS, never))).toBe(true);
      order.push(name);
    };
    await Promise.all([enter('first'), enter('second')]);
    const waiting = [enter('third'), enter('fourth')];
    expect(slots.tryEnter('b')).toBe(true);
    expect(order).toEqual(['first', 'second']);
    slots.leave('a');
    await waiting[0];
    expect(order).toEqual(['first', 'second', 'third']);
    slots.leave('a');
    await waiting[1];
    slots.leave('a');
    slots.leave('a');
    await Promise.all([enter('fifth'), enter('sixth')]);
    expect(order).toHaveLength(6);
  });

  it('forgets who gave up waiting', async () => {
    const slots = new CallSlots(1);
    expect(slots.tryEnter('a')).toBe(true);
    const impatient = new AbortController();
    const waiting = slots.wait('a', LONG_MS, impatient.signal);
    impatient.abort();
    await expect(waiting).resolves.toBe(false);
    slots.leave('a');
    expect(slots.tryEnter('a')).toBe(true);
  });
});
