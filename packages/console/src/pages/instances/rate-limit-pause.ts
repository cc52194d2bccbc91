import { ServiceError } from '../../../../client/src/index.js';

const TOO_MANY = 429;
const SECOND_MS = 1_000;

/**
 * Coordinates concurrent calls under a rate limit: after a 429 response, all calls pause for the time that the service requests, and
 * the rejected call is retried.
 */
export class RateLimitPause {
  private restUntil = 0;

  /**
   * @param signal cancels the pause
   * @param onPause receives the seconds of a pause when it starts, and 0 when it ends
   */
  constructor(
    private readonly signal: AbortSignal,
    private readonly onPause: (seconds: number) => void,
  ) {}

  /**
   * Makes a call after any pause.
   * @returns undefined if the signal aborted before the service accepted the call
   * @throws other errors of the call
   */
  async run<T>(call: () => Promise<T>): Promise<{ answer: T } | undefined> {
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
    this.onPause(seconds);
  }

  private async rest(): Promise<void> {
    for (let left = this.left(); left > 0 && !this.signal.aborted; left = this.left()) {
      await pause(left, this.signal);
      this.onPause(0);
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
