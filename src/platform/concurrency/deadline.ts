/** A signal that is aborted after a time limit, or when an outer signal is aborted. Call {@link clear} when the work is done. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly pass = (): void => this.controller.abort(this.outer.reason);

  constructor(
    private readonly outer: AbortSignal,
    milliseconds: number,
    timeoutError: () => Error,
  ) {
    this.timer = setTimeout(() => this.controller.abort(timeoutError()), milliseconds);
    outer.addEventListener('abort', this.pass, { once: true });
    if (outer.aborted) {
      this.pass();
    }
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  clear(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener('abort', this.pass);
  }
}

/**
 * Waits for work, but no longer than `ms` milliseconds. The work itself continues, and a later result or error is ignored.
 * @param late returns the result after a timeout, or throws
 */
export async function within<Result>(
  ms: number,
  work: Promise<Result>,
  late: () => Result | Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([work, over.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
