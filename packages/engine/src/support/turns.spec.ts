import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { inTurn, inTurns } from './turns.js';

const LONG_MS = 12;

/** Takes the event loop for a while. */
function work(ms: number): void {
  const end = performance.now() + ms;
  let now = performance.now();
  while (now < end) {
    now = performance.now();
  }
}

/** Begins pieces of work at once. @returns the turns of the event loop in which each was done */
async function turnsOf(lengths: readonly number[]): Promise<number[]> {
  let turn = 0;
  const counting = { isOver: false };
  const counted = (async () => {
    for (; !counting.isOver; turn += 1) {
      await setImmediate();
    }
  })();
  const pieces = lengths.map((ms) =>
    inTurn(() => {
      work(ms);
      return turn;
    }),
  );
  const turns = await Promise.all(pieces);
  counting.isOver = true;
  await counted;
  return turns;
}

it('does one long piece of work in a turn of the event loop, in their order', async () => {
  const turns = await turnsOf([LONG_MS, LONG_MS, LONG_MS, LONG_MS]);
  expect(new Set(turns).size).toBe(4);
  expect(turns).toEqual(turns.toSorted((one, other) => one - other));
});

it('does not hold up short work where nothing long was done', async () => {
  // The machine can make a piece long.
  const pieces = Array.from({ length: 50 }, () => 0);
  expect(new Set(await turnsOf(pieces)).size).toBeLessThan(25);
});

it('rejects with what the work throws, and goes on with others', async () => {
  const failing = inTurn(() => {
    work(LONG_MS);
    throw new RangeError('no');
  });
  await expect(failing).rejects.toThrow(RangeError);
  expect(await inTurn(() => 'next')).toBe('next');
});

it('gives others a turn between the parts of work that can be interrupted', async () => {
  const seen: string[] = [];
  const others = (async () => {
    for (let count = 0; count < 2; count += 1) {
      await setImmediate();
      seen.push('other');
    }
  })();
  const long = inTurns(
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
