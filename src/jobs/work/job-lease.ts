import { LeaseLostError } from '../queue/jobs.errors.js';

/** Lease of one run on its job. Aborts `signal` when it ends, so that the run ends too. */
export class JobLease {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private isRenewing = false;
  /** Start of the run, as `performance.now()`. */
  readonly since = performance.now();

  /**
   * @param leaseMs length of the lease, from the start and after each renewal
   * @param heldFrom start of the lease, as `performance.now()`
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

  /** Reason why the run must end; undefined while the lease lasts. */
  get endedBy(): unknown {
    return this.signal.aborted ? this.signal.reason : undefined;
  }

  /** Whether the last renewal got no answer. */
  get isRenewalUnanswered(): boolean {
    return this.isRenewing;
  }

  /**
   * Renews the lease for another `leaseMs`.
   * @param store stores the renewal; resolves to false when the job was cancelled or another worker has it
   * @throws LeaseLostError in that case, and when the lease expired in the meantime
   */
  async renew(store: () => Promise<boolean>): Promise<void> {
    // Measured before the statement, so that the lease never seems longer here than in the database.
    const requestedAt = performance.now();
    // An error leaves it set, because an error is not an answer either.
    this.isRenewing = true;
    const isHeld = await store();
    this.isRenewing = false;
    if (!isHeld) {
      this.abort(new LeaseLostError());
    }
    this.signal.throwIfAborted();
    this.watch(requestedAt);
  }

  /**
   * Waits for a run, but abandons one that ignores an abort for too long, to free its worker.
   * @param patienceMs how long a run may continue after the abort
   * @throws the error of the run, or the reason of the abort
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

  /** Aborts the run. The first reason is kept. */
  abort(reason: Error): void {
    this.controller.abort(reason);
  }

  /** Stops watching the lease, after the run has ended. */
  release(): void {
    clearTimeout(this.timer);
  }

  private watch(heldFrom: number): void {
    clearTimeout(this.timer);
    const leftMs = Math.max(0, this.leaseMs - (performance.now() - heldFrom));
    this.timer = setTimeout(() => this.abort(new LeaseLostError()), leftMs);
  }
}
