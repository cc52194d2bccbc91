import { cached } from '#engine/support';

/** Why an entry was refused: its queue is full, its wait reached the limit, or its signal was aborted. */
export type Refusal = 'full' | 'late' | 'gone';

export class NotAdmittedError extends Error {
  override readonly name = 'NotAdmittedError';
}

export interface BulkheadLimits {
  /** Total weight admitted per key at the same time, at least 1. A heavier entry is admitted alone. */
  capacity: number;
  /** Maximum number of waiting entries per key. @default no limit */
  queue?: number;
  /** Maximum wait in milliseconds. @default no limit */
  waitMs?: number;
  /** Milliseconds after which the oldest place is revoked while others wait for it. @default never */
  leaseMs?: number;
}

export interface Entry {
  /** Entries with different keys, such as callers, share no capacity and never wait for each other. */
  key?: string;
  /** @default 1 */
  weight?: number;
  /** Replaces `waitMs` of the limits. */
  waitMs?: number | undefined;
  /** Ends the wait. It is not read when the entry is admitted immediately. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the place is revoked, see `leaseMs`. */
  onRevoke?: () => void;
}

export interface Place {
  /** Undefined when the entry was admitted immediately. Rejects when it is refused; never settles after `leave`. */
  readonly admitted: Promise<void> | undefined;
  /** Gives the place back, or leaves the queue. Further calls have no effect. */
  leave(this: void): void;
}

interface Ticket {
  readonly weight: number;
  readonly revoke: (() => void) | undefined;
  admittedAt: number;
  /** Ends the wait and resolves `admitted`. */
  admit?: () => void;
  /** Ends the wait. */
  stopWaiting?: () => void;
}

/** The entries of one key, each set in order. */
interface Compartment {
  occupied: number;
  readonly inside: Set<Ticket>;
  readonly waiting: Set<Ticket>;
  leaseTimer?: NodeJS.Timeout;
}

/** Limits how much work runs at the same time, per key. Further work waits in a bounded queue, first come, first served. */
export class Bulkhead {
  private readonly compartments = new Map<string, Compartment>();

  /** @param refuse makes the error that refused entries throw */
  constructor(
    private readonly limits: BulkheadLimits,
    private readonly refuse: (refusal: Refusal) => Error = (refusal) => new NotAdmittedError(refusal),
  ) {}

  /** Weight that is admitted, in total and of the key that has most. */
  get use(): { all: number; largest: number } {
    const use = { all: 0, largest: 0 };
    for (const { occupied } of this.compartments.values()) {
      use.all += occupied;
      use.largest = Math.max(use.largest, occupied);
    }
    return use;
  }

  /** Weight of one key that is admitted. */
  occupied(key = ''): number {
    return this.compartments.get(key)?.occupied ?? 0;
  }

  /** Number of waiting entries. */
  get waiting(): number {
    return [...this.compartments.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /**
   * Runs work as soon as there is a place for it.
   * @param work is passed whether it had to wait
   * @throws the error of a refused entry, or what the work throws
   */
  async run<Result>(work: (hasWaited: boolean) => Promise<Result>, entry?: Entry): Promise<Result> {
    const { admitted, leave } = this.enter(entry);
    try {
      await admitted;
      return await work(admitted !== undefined);
    } finally {
      leave();
    }
  }

  /**
   * Takes a place, or queues for one.
   * @throws the error of a refused entry
   */
  enter(entry: Entry = {}): Place {
    const { key = '', weight = 1, onRevoke } = entry;
    const compartment = cached(this.compartments, key, () => ({
      occupied: 0,
      inside: new Set<Ticket>(),
      waiting: new Set<Ticket>(),
    }));
    const ticket: Ticket = { weight, revoke: onRevoke, admittedAt: 0 };
    const leave = (): void => this.leave(key, compartment, ticket);
    if (compartment.waiting.size === 0 && this.fits(compartment, weight)) {
      this.admit(compartment, ticket);
      return { admitted: undefined, leave };
    }
    if (compartment.waiting.size >= (this.limits.queue ?? Infinity)) {
      throw this.refuse('full');
    }
    const admitted = this.queue(ticket, entry, leave);
    compartment.waiting.add(ticket);
    this.watchLease(key, compartment);
    return { admitted, leave };
  }

  private queue(
    ticket: Ticket,
    { waitMs = this.limits.waitMs, signal }: Entry,
    leave: () => void,
  ): Promise<void> {
    if (signal?.aborted === true) {
      throw this.refuse('gone');
    }
    return new Promise<void>((resolve, reject) => {
      const end = (refusal: Refusal): void => {
        leave();
        reject(this.refuse(refusal));
      };
      const abort = (): void => end('gone');
      const timer = waitMs === undefined ? undefined : setTimeout(end, waitMs, 'late');
      signal?.addEventListener('abort', abort, { once: true });
      ticket.stopWaiting = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      ticket.admit = resolve;
    });
  }

  private fits({ occupied }: Compartment, weight: number): boolean {
    return occupied === 0 || occupied + weight <= this.limits.capacity;
  }

  private admit(compartment: Compartment, ticket: Ticket): void {
    compartment.occupied += ticket.weight;
    compartment.inside.add(ticket);
    ticket.admittedAt = performance.now();
    ticket.stopWaiting?.();
    ticket.admit?.();
  }

  private leave(key: string, compartment: Compartment, ticket: Ticket): void {
    const { inside, waiting } = compartment;
    if (inside.delete(ticket)) {
      compartment.occupied -= ticket.weight;
    } else if (waiting.delete(ticket)) {
      ticket.stopWaiting?.();
    } else {
      return;
    }
    for (const next of waiting) {
      if (!this.fits(compartment, next.weight)) {
        break;
      }
      waiting.delete(next);
      this.admit(compartment, next);
    }
    this.watchLease(key, compartment);
    if (inside.size === 0) {
      this.compartments.delete(key);
    }
  }

  private watchLease(key: string, compartment: Compartment): void {
    const { leaseMs } = this.limits;
    const [oldest] = compartment.inside;
    clearTimeout(compartment.leaseTimer);
    if (leaseMs !== undefined && oldest !== undefined && compartment.waiting.size > 0) {
      const revoke = (): void => {
        oldest.revoke?.();
        this.leave(key, compartment, oldest);
      };
      compartment.leaseTimer = setTimeout(revoke, oldest.admittedAt + leaseMs - performance.now());
    }
  }
}
