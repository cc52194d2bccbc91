const SLICE_MS = 5;
/** Browsers have no `setImmediate`. */
const defer: (work: () => void) => unknown =
  (globalThis as { setImmediate?: (work: () => void) => unknown }).setImmediate ??
  ((work) => setTimeout(work, 0));

/** Waits for the next iteration of the event loop; pending input is read before. */
export function nextIteration(): Promise<void> {
  return new Promise((resolve) => {
    defer(resolve);
  });
}

/** Long synchronous work that yields at every point where it can be interrupted. */
export type YieldingWork<Result> = Generator<void, Result>;

/** Runs interruptible work to its end without interruption. */
export function runWithoutYielding<Result>(steps: YieldingWork<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
  }
}

/** Time of the first call in this iteration of the event loop; everything since then counts against its slice. */
const loop: { begunAt: number | undefined } = { begunAt: undefined };

function isSliceUsedUp(): boolean {
  const now = performance.now();
  if (loop.begunAt === undefined) {
    loop.begunAt = now;
    defer(() => {
      loop.begunAt = undefined;
    });
  }
  return now - loop.begunAt >= SLICE_MS;
}

/**
 * Runs synchronous work now and counts its time against the current slice of the event loop.
 * @throws errors of the work
 */
export function runInSlice<Result>(work: () => Result): Result {
  isSliceUsedUp();
  return work();
}

/**
 * Waits for a slice of the event loop with time left, so that health probes and short requests are answered between long pieces of
 * work. Do not call it inside a transaction.
 * @returns undefined if the current slice has time left
 */
export function yieldEventLoop(): Promise<void> | undefined {
  return isSliceUsedUp() ? nextSlice() : undefined;
}

/**
 * Waits for one iteration of the event loop if the caller has worked for a whole slice. Unlike {@link yieldEventLoop}, it does not wait
 * for other long work, so it may be called while holding a connection.
 * @param since start of the caller's slice, on the clock of `performance.now()`
 * @returns start of the caller's current slice, for the next call
 */
export async function yieldAfterSlice(since: number): Promise<number> {
  if (performance.now() - since < SLICE_MS) {
    return since;
  }
  await nextIteration();
  return performance.now();
}

async function nextSlice(): Promise<void> {
  // Nothing may be awaited between this check and the use of the slice.
  while (isSliceUsedUp()) {
    await nextIteration();
  }
}

/** Runs work in the next slice that has time left. */
export async function runAfterYield<Result>(work: () => Result): Promise<Result> {
  while (isSliceUsedUp()) {
    await nextIteration();
  }
  return work();
}

/** Runs interruptible work and lets other work run in between. Do not call it inside a transaction. */
export async function runYielding<Result>(steps: YieldingWork<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = await runAfterYield(() => advance(steps));
    if (done === true) {
      return value;
    }
  }
}

function advance<Result>(steps: YieldingWork<Result>): IteratorResult<void, Result> {
  const begun = performance.now();
  let step = steps.next();
  while (step.done !== true && performance.now() - begun < SLICE_MS) {
    step = steps.next();
  }
  return step;
}
