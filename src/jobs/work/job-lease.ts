import { LeaseLostError } from '../queue/jobs.errors.js';

/** The hold that one run has on its job. When it ends, so shall the run: `signal` is aborted. */
export class JobLease {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private isAsking = false;
  /** When the run began, on the clock of `performance.now()`. */
  readonly since = performance.now();

  /**
   * @param leaseMs how long the job is held after each renewal
   * @param heldFrom from when on it is held, on the clock of `performance.now()`
   */
  constructor(
    readonly leaseMs: number,
    heldFrom: number,
  ) {
    this.watch(heldFrom);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Why the run shall end; undefined while it need not. */
  get endedBy(): unknown {
    return this.signal.aborted ? this.signal.reason : undefined;
  }

  /** Whether more time was asked for last, and no answer came. */
  get isUnanswered(): boolean {
    return this.isAsking;
  }

  /**
   * Holds the job for another `leaseMs`.
   * @param store writes that down; false when the job was cancelled or another worker has it
   * @throws LeaseLostError in that case, and when the lease ended meanwhile
   */
  async renew(store: () => Promise<boolean>): Promise<void> {
    // Counted from before the statement, so that we never think of the lease as longer than the database does.
    const asked = performance.now();
    // Not put back by a failure: that is no answer either.
    this.isAsking = true;
    const isHeld = await store();
    this.isAsking = false;
    if (!isHeld) {
      this.abort(new LeaseLostError());
    }
    this.signal.throwIfAborted();
    this.watch(asked);
  }

  /**
   * Waits for the run, but not for one that goes on long after it was told to end: its worker is needed elsewhere.
   * @param patienceMs how long it may go on
   * @throws what the run throws, or the reason why it should have ended
   */
  async oversee(run: Promise<void>, patienceMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const overrun = new Promise<never>((_resolve, reject) => {
      const onAbort = (): void => {
        timer = setTimeout(() => reject(this.signal.reason as Error), patienceMs);
      };
      this.signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      await Promise.race([run, overrun]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tells the run to end. The first reason stays. */
  abort(reason: Error): void {
    this.controller.abort(reason);
  }

  /** The run is over; its time is no longer watched. */
  release(): void {
    clearTimeout(this.timer);
  }

  private watch(heldFrom: number): void {
    clearTimeout(this.timer);
    const leftMs = Math.max(0, this.leaseMs - (performance.now() - heldFrom));
    this.timer = setTimeout(() => this.abort(new LeaseLostError()), leftMs);
  }
}
