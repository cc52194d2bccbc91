import { WaitingLine } from '../concurrency/waiting-line.js';

/** Nobody has a thread for this work: too many wait, the wait was too long, or who waited is gone. It was not begun. */
export class NoThreadError extends Error {
  override readonly name = 'NoThreadError';
}

/** Gives threads, or places, that do one thing at a time to those who need one, in the order in which they came. */
export class ThreadTurns<Thread> {
  private readonly free: Thread[];
  private readonly line = new WaitingLine<{ thread?: Thread }>();

  /**
   * @param maxWaiting how many wait for a thread at the most
   * @param waitMs how long one waits, in milliseconds
   */
  constructor(
    readonly threads: readonly Thread[],
    private readonly maxWaiting: number,
    private readonly waitMs: number,
  ) {
    this.free = [...threads];
  }

  /** Whether nobody has a thread. */
  get isIdle(): boolean {
    return this.free.length === this.threads.length;
  }

  /**
   * Does work with a thread of its own; waits until there is one, or `signal` says that nobody needs it.
   * @throws NoThreadError
   */
  async take<Result>(work: (thread: Thread) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const thread = this.free.pop() ?? (await this.next(signal));
    try {
      return await work(thread);
    } finally {
      this.give(thread);
    }
  }

  private async next(signal: AbortSignal | undefined): Promise<Thread> {
    const entry: { thread?: Thread } = {};
    if (this.line.length < this.maxWaiting) {
      await this.line.wait(entry, this.waitMs, signal);
    }
    if (entry.thread === undefined) {
      throw new NoThreadError();
    }
    return entry.thread;
  }

  private give(thread: Thread): void {
    const next = this.line.admit();
    if (next === undefined) {
      this.free.push(thread);
    } else {
      next.thread = thread;
    }
  }
}
