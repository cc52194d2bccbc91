import type { SharedSlots } from '../../../common/redis/shared-slots.js';
import { WaitingLine } from '../../../common/waiting-line.js';

const SETTING = 'MCP_CALL_MAX_IN_FLIGHT_PER_SYSTEM';

interface Slots {
  taken: number;
  readonly line: WaitingLine<true>;
}

/** Whose call wants a slot. */
export interface SlotKey {
  /** Of this replica. */
  readonly session: string;
  /** Of all replicas: in them a system is one, whatever credentials it is called with. */
  readonly system: string;
}

/** Bounds how many calls of one key are under way; others wait their turn, in a replica first come, first served. */
export class CallSlots {
  private readonly slots = new Map<string, Slots>();

  /** @param shared lets other replicas count with this one */
  constructor(
    private readonly capacity: number,
    private readonly shared?: SharedSlots,
  ) {}

  /** Takes a slot that is free, where no other replica needs to be asked; {@link leave} gives it back. */
  tryEnter(key: SlotKey): boolean {
    return this.shared === undefined && this.tryHere(key.session);
  }

  /**
   * Waits for a slot.
   * @param waitMs milliseconds at the most
   * @param signal gives up waiting
   * @returns whether it had to be waited for; undefined when there is none. {@link leave} gives it back
   */
  async enter(key: SlotKey, waitMs: number, signal: AbortSignal): Promise<{ waited: boolean } | undefined> {
    const end = performance.now() + waitMs;
    const isAtOnce = this.tryHere(key.session);
    if (!isAtOnce && !(await this.slotsOf(key.session).line.wait(true, waitMs, signal))) {
      return undefined;
    }
    if (this.shared === undefined) {
      return { waited: !isAtOnce };
    }
    const rest = { ms: end - performance.now(), signal };
    const slot = await this.shared.wait(`${SETTING} ${key.system}`, this.capacity, rest);
    if (slot === undefined) {
      this.leaveHere(key.session);
    }
    return slot && { waited: slot.waited || !isAtOnce };
  }

  /** Gives a slot back. */
  leave({ session, system }: SlotKey): void {
    this.shared?.leave(`${SETTING} ${system}`);
    this.leaveHere(session);
  }

  private tryHere(key: string): boolean {
    const slots = this.slotsOf(key);
    const isFree = slots.taken < this.capacity;
    slots.taken += isFree ? 1 : 0;
    return isFree;
  }

  private leaveHere(key: string): void {
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
