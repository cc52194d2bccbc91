import { ServiceError } from '../../../../client/src/index.js';

const TOO_MANY = 429;
const SECOND_MS = 1_000;

/**
 * For several calls that go on beside each other: where the service says that it had too many (429), all of them rest for as long as
 * it says, and what it refused is asked again.
 */
export class Patience {
  private restUntil = 0;

  /**
   * @param signal ends the waiting
   * @param tell is called with the seconds of a rest that begins, and with 0 when the service takes calls again
   */
  constructor(
    private readonly signal: AbortSignal,
    private readonly tell: (seconds: number) => void,
  ) {}

  /**
   * Makes a call when it is its time.
   * @returns undefined where the waiting was ended before the service took it
   * @throws what the call is refused with for other reasons
   */
  async ask<T>(call: () => Promise<T>): Promise<{ answer: T } | undefined> {
    for (;;) {
      await this.rest();
      if (this.signal.aborted) {
        return undefined;
      }
      try {
        return { answer: await call() };
      } catch (error) {
        if (!(error instanceof ServiceError && error.status === TOO_MANY)) {
          throw error;
        }
        this.begin(error.retryAfterSeconds ?? 1);
      }
    }
  }

  private begin(seconds: number): void {
    this.restUntil = Math.max(this.restUntil, performance.now() + seconds * SECOND_MS);
    this.tell(seconds);
  }

  private async rest(): Promise<void> {
    for (let left = this.left(); left > 0 && !this.signal.aborted; left = this.left()) {
      await pause(left, this.signal);
      this.tell(0);
    }
  }

  private left(): number {
    return this.restUntil - performance.now();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
