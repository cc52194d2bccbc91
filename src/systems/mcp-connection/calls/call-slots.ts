import { WaitingLine } from '../../../platform/concurrency/waiting-line.js';

interface Slots {
  taken: number;
  readonly line: WaitingLine<true>;
}

/** Bounds how many calls of one key are under way; others wait their turn, first come, first served. */
export class CallSlots {
  private readonly slots = new Map<string, Slots>();

  constructor(private readonly capacity: number) {}

  /** Takes a slot that is free; {@link leave} gives it back. */
  tryEnter(key: string): boolean {
    const slots = this.slotsOf(key);
    const isFree = slots.taken < this.capacity;
    slots.taken += isFree ? 1 : 0;
    return isFree;
  }

  /** Waits for a slot, {@link leave} gives it back. @returns false when there is none within `waitMs` */
  wait(key: string, waitMs: number, signal: AbortSignal): Promise<boolean> {
    return this.slotsOf(key).line.wait(true, waitMs, signal);
  }

  /** Gives a slot back. */
  leave(key: string): void {
    const slots = this.slots.get(key);
    if (slots !== undefined && slots.line.admit() === undefined && (slots.taken -= 1) === 0) {
      this.slots.delete(key);
    }
  }

  private slotsOf(key: string): Slots {
    const slots = this.slots.get(key) ?? { taken: 0, line: new WaitingLine<true>() };
    this.slots.set(key, slots);
    return slots;
  }
}
