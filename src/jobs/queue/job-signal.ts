import { Injectable } from '@nestjs/common';

/** Tells the idle workers of this replica that there may be work. */
@Injectable()
export class JobSignal {
  private count = 0;
  private readonly waiting = new Set<() => void>();

  /** How often there was a signal; read it before looking for work, so that none is missed in between. */
  get seen(): number {
    return this.count;
  }

  wake(): void {
    this.count += 1;
    const waiting = [...this.waiting];
    waiting.forEach((resume) => resume());
  }

  /**
   * Waits for the next signal, but not longer than `limitMs`.
   * @param seen what `seen` was before the caller looked for work
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
