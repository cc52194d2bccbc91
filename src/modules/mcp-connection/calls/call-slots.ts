interface Line {
  taken: number;
  waiting: (() => void)[];
}

/** Bounds how many calls of one key are under way; others wait their turn, first come, first served. */
export class CallSlots {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly capacity: number) {}

  /** Takes a slot that is free; {@link leave} gives it back. */
  tryEnter(key: string): boolean {
    const line = this.lineOf(key);
    const isFree = line.taken < this.capacity;
    line.taken += isFree ? 1 : 0;
    return isFree;
  }

  /**
   * Waits for a slot.
   * @param signal gives up waiting
   * @returns whether there is a slot, which {@link leave} gives back
   */
  async enter(key: string, signal: AbortSignal): Promise<boolean> {
    if (this.tryEnter(key)) {
      return true;
    }
    if (signal.aborted) {
      return false;
    }
    const { waiting } = this.lineOf(key);
    return new Promise((resolve) => {
      const giveUp = (): void => {
        waiting.splice(waiting.indexOf(admit), 1);
        resolve(false);
      };
      const admit = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      waiting.push(admit);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Gives a slot back. */
  leave(key: string): void {
    const line = this.lines.get(key);
    const next = line?.waiting.shift();
    if (next !== undefined) {
      next();
    } else if (line !== undefined && (line.taken -= 1) === 0) {
      this.lines.delete(key);
    }
  }

  private lineOf(key: string): Line {
    const line = this.lines.get(key) ?? { taken: 0, waiting: [] };
    this.lines.set(key, line);
    return line;
  }
}
