/** Those who wait for something, in the order in which they came. */
export class WaitingLine<Entry> {
  private readonly waiting = new Map<object, { entry: Entry; begin: () => void }>();

  get length(): number {
    return this.waiting.size;
  }

  get first(): Entry | undefined {
    const [next] = this.waiting.values();
    return next?.entry;
  }

  /**
   * Waits until `admit` comes to this entry.
   * @param waitMs milliseconds at the most
   * @returns whether its turn came
   */
  wait(entry: Entry, waitMs: number, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted === true) {
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      const place = {};
      const settle = (hasTurn: boolean): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        this.waiting.delete(place);
        resolve(hasTurn);
      };
      const leave = (): void => settle(false);
      const timer = setTimeout(leave, waitMs);
      signal?.addEventListener('abort', leave, { once: true });
      this.waiting.set(place, { entry, begin: () => settle(true) });
    });
  }

  /** The turn of the first one has come. It leaves the line. @returns what it waited with */
  admit(): Entry | undefined {
    const [next] = this.waiting.values();
    next?.begin();
    return next?.entry;
  }
}
