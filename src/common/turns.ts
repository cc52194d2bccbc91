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

/** Long work that says by `yield` where it can be interrupted. */
export type Steps<Result> = Generator<void, Result>;

/** Does such work without a break. */
export function inOnePiece<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
  }
}

/** Does such work so that others have their turn. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  const turns = new Turns();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
    await turns.give();
  }
}
