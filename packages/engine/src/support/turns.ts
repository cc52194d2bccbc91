const TURN_MS = 5;
/** Browsers have no `setImmediate`. */
const defer: (work: () => void) => unknown =
  (globalThis as { setImmediate?: (work: () => void) => unknown }).setImmediate ??
  ((work) => setTimeout(work, 0));
const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    defer(resolve);
  });

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

/** When somebody first asked in this turn of the event loop; all that has gone on since then has taken its time. */
const loop: { begunAt: number | undefined } = { begunAt: undefined };

function isFilled(): boolean {
  const now = performance.now();
  if (loop.begunAt === undefined) {
    loop.begunAt = now;
    defer(() => {
      loop.begunAt = undefined;
    });
  }
  return now - loop.begunAt >= TURN_MS;
}

/**
 * Does work at once, and counts its time to the turn of the event loop.
 * @param work waits for nothing
 * @throws what the work throws
 */
export function inThisTurn<Result>(work: () => Result): Result {
  isFilled();
  return work();
}

/**
 * Waits for a turn of the event loop that is not filled yet, so that probes and short requests are answered between long pieces of one
 * request and of several. Not inside of a transaction.
 * @returns undefined when this one is not
 */
export function turnWithRoom(): Promise<void> | undefined {
  return isFilled() ? nextWithRoom() : undefined;
}

async function nextWithRoom(): Promise<void> {
  // Looked at and used without a wait in between.
  while (isFilled()) {
    await nextTurn();
  }
}

/** Does work in such a turn. */
export async function inTurn<Result>(work: () => Result): Promise<Result> {
  while (isFilled()) {
    await nextTurn();
  }
  return work();
}

/** Does work that can be interrupted so that others have their turn. Not inside of a transaction. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = await inTurn(() => advance(steps));
    if (done === true) {
      return value;
    }
  }
}

function advance<Result>(steps: Steps<Result>): IteratorResult<void, Result> {
  const begun = performance.now();
  let step = steps.next();
  while (step.done !== true && performance.now() - begun < TURN_MS) {
    step = steps.next();
  }
  return step;
}
