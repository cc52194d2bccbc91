import { Injectable } from '@nestjs/common';

/** Wakes the idle workers of this replica when there may be work. */
@Injectable()
export class JobSignal {
  private count = 0;
  private readonly waiting = new Set<() => void>();

  /** Number of signals so far. Read it before looking for work, so that no signal is missed in between. */
  get seen(): number {
    return this.count;
  }

  wake(): void {
    this.count += 1;
    const waiting = [...this.waiting];
    waiting.forEach((resume) => resume());
  }

  /**
   * Waits for the next signal, up to `limitMs`.
   * @param seen value of `seen` before the caller looked for work
   */
  async wait(seen: number, limitMs: number): Promise<void> {
    if (seen !== this.count) {
      return;
    }
    await new Promise<void>((resolve) => {
      const resume = (): void => {
        clearTimeout(timer);
        this.waiting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, limitMs);
      this.waiting.add(resume);
    });
  }
}
