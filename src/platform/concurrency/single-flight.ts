/** Lets concurrent callers with the same key share one run of asynchronous work, such as a read that fills a cache. */
export class SingleFlight<Key, Result> {
  private readonly running = new Map<Key, Promise<Result>>();

  /**
   * Joins the current run of a key, or starts one. Its result is not cached: the next call after it has ended runs again.
   * @throws the error of the run, to every caller that shares it
   */
  run(key: Key, work: () => Promise<Result>): Promise<Result> {
    const current = this.running.get(key);
    if (current !== undefined) {
      return current;
    }
    const started = work().finally(() => this.running.delete(key));
    this.running.set(key, started);
    return started;
  }

  /** Waits for the current run of a key, if any. Never rejects. */
  async settled(key: Key): Promise<void> {
    await this.running.get(key)?.catch(() => undefined);
  }
}
