import { setImmediate } from 'node:timers/promises';

/** Milliseconds for which the connection is used without a break. */
const LONGEST_HOLD_MS = 5;
/** How often background work lets requests go first. */
const REQUESTS_FIRST = 4;

/**
 * Whose turn it is to use the one connection of the embedded file: a statement sent during someone's transaction would become part of
 * it. Requests go before background work, which gets every fifth turn at least.
 */
export class EmbeddedTurns {
  private readonly requests: (() => void)[] = [];
  private readonly background: (() => void)[] = [];
  private isInUse = false;
  private passed = 0;
  private pausedAt = 0;

  /**
   * @param isBackground whether nobody waits for an answer
   * @returns what the work returns; rejects with what it throws
   */
  async take<T>(work: () => Promise<T>, isBackground: boolean): Promise<T> {
    if (this.isInUse) {
      const line = isBackground ? this.background : this.requests;
      await new Promise<void>((resolve) => line.push(resolve));
    }
    this.isInUse = true;
    try {
      await this.pause();
      return await work();
    } finally {
      this.handOver();
    }
  }

  private handOver(): void {
    const next = this.next();
    // Still in use when there is one: nobody may come in between.
    this.isInUse = next !== undefined;
    next?.();
  }

  private next(): (() => void) | undefined {
    const isPassed = this.background.length > 0 && this.requests.length > 0;
    if (this.requests.length > 0 && !(isPassed && this.passed >= REQUESTS_FIRST)) {
      this.passed = isPassed ? this.passed + 1 : 0;
      return this.requests.shift();
    }
    this.passed = 0;
    return this.background.shift();
  }

  // The driver answers at once: whoever asks again and again would never let timers, requests or signals have their turn.
  private async pause(): Promise<void> {
    if (performance.now() - this.pausedAt >= LONGEST_HOLD_MS) {
      await setImmediate();
      this.pausedAt = performance.now();
    }
  }
}
