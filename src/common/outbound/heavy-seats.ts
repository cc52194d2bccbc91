/** A seat in {@link HeavySeats}, held until released. */
export interface Seat {
  release(): void;
}

interface Holder {
  since: number;
  revoke: () => void;
}

/**
 * Bounds how many operations may hold a large answer at once, first come, first served. A holder that keeps
 * its seat longer than `leaseMs` while others wait loses it.
 */
export class HeavySeats {
  private readonly holders = new Set<Holder>();
  private readonly waiters: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;

  /** @param leaseMs milliseconds a seat is safe from being taken away */
  constructor(
    private readonly capacity: number,
    private readonly leaseMs: number,
  ) {}

  /**
   * Waits for a seat, until `signal` aborts.
   * @param onRevoke called once when the seat has been taken away
   */
  acquire(signal: AbortSignal, onRevoke: () => void): Promise<Seat> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const grant = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(this.seat(onRevoke));
      };
      const giveUp = (): void => {
        this.waiters.splice(this.waiters.indexOf(grant), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.waiters.push(grant);
      this.settle();
    });
  }

  private seat(onRevoke: () => void): Seat {
    const holder: Holder = { since: performance.now(), revoke: onRevoke };
    this.holders.add(holder);
    return {
      release: () => {
        if (this.holders.delete(holder)) {
          this.settle();
        }
      },
    };
  }

  private settle(): void {
    while (this.waiters.length > 0 && this.holders.size < this.capacity) {
      this.waiters.shift()?.();
    }
    clearTimeout(this.timer);
    const [oldest] = this.holders;
    if (this.waiters.length > 0 && oldest !== undefined) {
      const age = performance.now() - oldest.since;
      this.timer = setTimeout(() => this.revoke(oldest), Math.max(0, this.leaseMs - age));
    }
  }

  private revoke(holder: Holder): void {
    if (this.holders.delete(holder)) {
      holder.revoke();
      this.settle();
    }
  }
}
