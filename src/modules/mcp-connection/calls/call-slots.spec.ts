import { describe, expect, it } from 'vitest';

import { CallSlots, type SlotKey } from './call-slots.js';

const LONG_MS = 600_000;

describe('CallSlots', () => {
  const [a, b] = ['a', 'b'].map((name) => ({ session: name, system: name })) as [SlotKey, SlotKey];
  const never = new AbortController().signal;

  it('lets that many in and the others when one leaves, in the order in which they came', async () => {
    const slots = new CallSlots(2);
    const order: string[] = [];
    const enter = async (name: string): Promise<void> => {
      await slots.enter(a, LONG_MS, never);
      order.push(name);
    };
    await Promise.all([enter('first'), enter('second')]);
    const waiting = [enter('third'), enter('fourth')];
    await expect(slots.enter(b, LONG_MS, never)).resolves.toEqual({ waited: false });
    expect(order).toEqual(['first', 'second']);
    slots.leave(a);
    await waiting[0];
    expect(order).toEqual(['first', 'second', 'third']);
    slots.leave(a);
    await waiting[1];
    slots.leave(a);
    slots.leave(a);
    await Promise.all([enter('fifth'), enter('sixth')]);
    expect(order).toHaveLength(6);
  });

  it('forgets who gave up waiting', async () => {
    const slots = new CallSlots(1);
    await slots.enter(a, LONG_MS, never);
    const impatient = new AbortController();
    const waiting = slots.enter(a, LONG_MS, impatient.signal);
    impatient.abort();
    await expect(waiting).resolves.toBeUndefined();
    slots.leave(a);
    await expect(slots.enter(a, LONG_MS, never)).resolves.toEqual({ waited: false });
  });
});
