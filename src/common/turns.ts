import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work in one go; longer work keeps others waiting. */
const TURN_MS = 10;

/** Lets others have the event loop between the parts of long work that is not waiting for anything. */
export class Turns {
  private since = performance.now();

  /** Between two parts: gives way when this has gone on for long enough, and costs next to nothing when not. */
  async give(): Promise<void> {
    if (performance.now() - this.since >= TURN_MS) {
      await nextTurn();
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

/** Work that was done in this turn of the event loop, in milliseconds. */
const loop = { spentMs: 0 };

/**
 * Does work and counts its time to the turn of the event loop.
 * @param work waits for nothing
 * @throws what the work throws
 */
export function inThisTurn<Result>(work: () => Result): Result {
  const begun = performance.now();
  try {
    return work();
  } finally {
    if (loop.spentMs === 0) {
      setImmediate(() => {
        loop.spentMs = 0;
      });
    }
    loop.spentMs += performance.now() - begun;
  }
}

/**
 * Does work in a turn of the event loop that is not filled by other work, so that probes and short requests are answered between
 * long pieces of one request and of several. Not inside of a transaction.
 * @param work waits for nothing
 * @returns what the work returns; rejects with what it throws
 */
export async function inTurn<Result>(work: () => Result): Promise<Result> {
  // Looked at and used without a wait in between.
  while (loop.spentMs >= TURN_MS) {
    await nextTurn();
  }
  return inThisTurn(work);
}
