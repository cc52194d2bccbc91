import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work in one go. */
const TURN_MS = 10;

/** Lets others have the event loop between the parts of long work that is not waiting for anything. */
export class Turns {
  private since = performance.now();

  /** Between two parts: gives way when this has gone on for long enough, and costs next to nothing when not. */
  async give(): Promise<void> {
    if (performance.now() - this.since >= TURN_MS) {
      await setImmediate();
      this.since = performance.now();
    }
  }
}
