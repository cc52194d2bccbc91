import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { runAfterYield, runYielding, yieldAfterSlice } from './yield-event-loop.js';

const LONG_MS = 12;

/** Blocks the event loop. */
function work(ms: number): void {
  const end = performance.now() + ms;
  let now = performance.now();
  while (now < end) {
    now = performance.now();
  }
}

/** Starts all pieces of work together. @returns the turn of the event loop in which each ran */
async function turnsOf(lengths: readonly number[]): Promise<number[]> {
  let turn = 0;
  const counting = { isOver: false };
  const counted = (async () => {
    for (; !counting.isOver; turn += 1) {
      await setImmediate();
    }
  })();
  const pieces = lengths.map((ms) =>
    runAfterYield(() => {
      work(ms);
      return turn;
    }),
  );
  const turns = await Promise.all(pieces);
  counting.isOver = true;
  await counted;
  return turns;
}

it('runs one long piece of work per turn of the event loop, in order', async () => {
  const turns = await turnsOf([LONG_MS, LONG_MS, LONG_MS, LONG_MS]);
  expect(new Set(turns).size).toBe(4);
  expect(turns).toEqual(turns.toSorted((one, other) => one - other));
});

it('does not delay short work when no long work ran', async () => {
  // A slow machine can stretch a piece, so the limit is generous.
  const pieces = Array.from({ length: 50 }, () => 0);
  expect(new Set(await turnsOf(pieces)).size).toBeLessThan(25);
});

it('waits for one iteration after a slice, even while other long work runs', async () => {
  let hasIterated = false;
  const iteration = setImmediate().then(() => (hasIterated = true));
  const begun = performance.now();
  work(LONG_MS);
  const next = await yieldAfterSlice(begun);
  expect(hasIterated).toBe(true);
  expect(next).toBeGreaterThan(begun);
  await iteration;
});

it('rejects with the error of the work and continues with other work', async () => {
  const failing = runAfterYield(() => {
    work(LONG_MS);
    throw new RangeError('no');
  });
  await expect(failing).rejects.toThrow(RangeError);
  expect(await runAfterYield(() => 'next')).toBe('next');
});

it('lets other work run between the steps of interruptible work', async () => {
  const seen: string[] = [];
  const others = (async () => {
    for (let count = 0; count < 2; count += 1) {
      await setImmediate();
      seen.push('other');
    }
  })();
  const long = runYielding(
    (function* () {
      for (let part = 0; part < 4; part += 1) {
        work(LONG_MS);
        seen.push('part');
        yield;
      }
      return 'done';
    })(),
  );
  expect(await long).toBe('done');
  await others;
  expect(seen.lastIndexOf('part')).toBeGreaterThan(seen.lastIndexOf('other'));
});
