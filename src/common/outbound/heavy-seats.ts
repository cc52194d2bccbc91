/** A seat in {@link HeavySeats}, held until released. */
export interface Seat {
  release(): void;
}

interface Holder {
  since: number;
  revoke: () => void;
}

interface Waiter {
  grant: () => void;
}

/**
 * Bounds how many outbound operations may hold a large answer at once. So memory is `capacity` times the limit of one
 * operation, however many run. First come, first served. A holder that keeps its seat longer than `leaseMs` while others
 * wait loses it: a slow party can delay others, never starve them.
 */
export class HeavySeats {
  private readonly holders = new Set<Holder>();
  private readonly waiters: Waiter[] = [];
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param capacity seats
   * @param leaseMs milliseconds a seat is safe from being taken away
   */
  constructor(
    private readonly capacity: number,
    private readonly leaseMs: number,
  ) {}

  /**
   * Waits for a seat.
   * @param signal gives up waiting; the promise rejects with its reason
   * @param onRevoke called once when the seat is taken away; the seat is gone by then
   */
  acquire(signal: AbortSignal, onRevoke: () => void): Promise<Seat> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const waiter: Waiter = {
        grant: () => {
          signal.removeEventListener('abort', giveUp);
          resolve(this.seat(onRevoke));
        },
      };
      const giveUp = () => {
        this.waiters.splice(this.waiters.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.waiters.push(waiter);
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
      this.waiters.shift()?.grant();
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
