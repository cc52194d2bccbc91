const TURN_MS = 5;
/** Browsers have no `setImmediate`. */
const defer: (work: () => void) => unknown =
  (globalThis as { setImmediate?: (work: () => void) => unknown }).setImmediate ??
  ((work) => setTimeout(work, 0));
const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    defer(resolve);
  });

/** Long synchronous work that yields at every point where it can be interrupted. */
export type Steps<Result> = Generator<void, Result>;

/** Runs interruptible work to its end without interruption. */
export function inOnePiece<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
  }
}

/** Time of the first call in this turn of the event loop; everything since then counts against the turn. */
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
 * Runs synchronous work now and counts its time against this turn of the event loop.
 * @throws errors of the work
 */
export function inThisTurn<Result>(work: () => Result): Result {
  isFilled();
  return work();
}

/**
 * Waits for a turn of the event loop with time left, so that health probes and short requests are answered between long pieces of
 * work. Do not call it inside a transaction.
 * @returns undefined if this turn still has time
 */
export function turnWithRoom(): Promise<void> | undefined {
  return isFilled() ? nextWithRoom() : undefined;
}

async function nextWithRoom(): Promise<void> {
  // Nothing may be awaited between this check and the use of the turn.
  while (isFilled()) {
    await nextTurn();
  }
}

/** Runs work in the next turn that has time left. */
export async function inTurn<Result>(work: () => Result): Promise<Result> {
  while (isFilled()) {
    await nextTurn();
  }
  return work();
}

/** Runs interruptible work and lets other work run in between. Do not call it inside a transaction. */
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
