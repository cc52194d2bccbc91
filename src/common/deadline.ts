/** Joins a signal of somebody else with the time that some work may take. Whoever makes one must {@link clear} it. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly pass = (): void => this.controller.abort(this.outer.reason);

  /** @param late gives the reason of the signal when the time is over */
  constructor(
    private readonly outer: AbortSignal,
    milliseconds: number,
    late: () => Error,
  ) {
    this.timer = setTimeout(() => this.controller.abort(late()), milliseconds);
    outer.addEventListener('abort', this.pass, { once: true });
    if (outer.aborted) {
      this.pass();
    }
  }

  /** Aborted for the reason of the outer signal, or because it is late. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The work is over: nobody watches the time or the outer signal any more. */
  clear(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener('abort', this.pass);
  }
}
