/** Joins a signal of somebody else with the time that some work may take. Whoever makes one must {@link clear} it. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly pass = (): void => this.controller.abort(this.outer.reason);

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

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  clear(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener('abort', this.pass);
  }
}

/**
 * Waits for work, but no longer than `ms` milliseconds. The work itself goes on; whatever comes of it later is dropped.
 * @param late gives the result in place of the work, or throws
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
