import { WaitingLine } from '../concurrency/waiting-line.js';

interface Holder {
  since: number;
  revoke: () => void;
}

/** The longest that a timer can wait: the signal of an operation ends it before. */
const LONGEST_MS = 2 ** 30;

/**
 * Bounds how many operations may hold a large answer at once, first come, first served. A holder that keeps
 * its seat longer than `leaseMs` while others wait loses it.
 */
export class HeavySeats {
  private readonly holders = new Set<Holder>();
  private readonly line = new WaitingLine<Holder>();
  private timer: NodeJS.Timeout | undefined;

  /** @param leaseMs milliseconds a seat is safe from being taken away */
  constructor(
    private readonly capacity: number,
    private readonly leaseMs: number,
  ) {}

  /**
   * Waits for a seat, until `signal` aborts.
   * @param onRevoke called once when the seat has been taken away
   * @returns gives the seat back
   */
  async acquire(signal: AbortSignal, onRevoke: () => void): Promise<() => void> {
    const holder: Holder = { since: 0, revoke: onRevoke };
    const turn = this.line.wait(holder, LONGEST_MS, signal);
    this.settle();
    if (!(await turn)) {
      throw signal.reason as Error;
    }
    return () => this.end(holder);
  }

  private settle(): void {
    while (this.holders.size < this.capacity && this.line.first !== undefined) {
      this.holders.add(Object.assign(this.line.first, { since: performance.now() }));
      this.line.admit();
    }
    clearTimeout(this.timer);
    const [oldest] = this.holders;
    if (this.line.length > 0 && oldest !== undefined) {
      const revoke = (): void => this.end(oldest, oldest.revoke);
      this.timer = setTimeout(revoke, Math.max(0, this.leaseMs - (performance.now() - oldest.since)));
    }
  }

  private end(holder: Holder, revoke?: () => void): void {
    if (this.holders.delete(holder)) {
      revoke?.();
      this.settle();
    }
  }
}
