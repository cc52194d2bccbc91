import { describe, expect, it } from 'vitest';
import { NoThreadError, ThreadTurns } from './thread-turns.js';

const LONG_MS = 600_000;

describe('ThreadTurns', () => {
  it('gives each thread to one at a time, in the order of those who wait', async () => {
    const turns = new ThreadTurns(['one'], 2, LONG_MS);
    const done: string[] = [];
    const begun: (() => void)[] = [];
    const take = (name: string) =>
      turns.take(
        () =>
          new Promise<void>((resolve) => {
            begun.push(() => {
              done.push(name);
              resolve();
            });
          }),
      );
    const all = ['a', 'b', 'c'].map(take);
    await expect(take('d')).rejects.toThrow(NoThreadError);
    for (const promise of all) {
      await expect.poll(() => begun.length).toBe(done.length + 1);
      begun.at(-1)?.();
      await promise;
    }
    expect(done).toEqual(['a', 'b', 'c']);
    expect(turns.isIdle).toBe(true);
  });

  it('gives on a thread whose work failed', async () => {
    const turns = new ThreadTurns(['one'], 0, LONG_MS);
    await expect(turns.take(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(turns.take((thread) => Promise.resolve(thread))).resolves.toBe('one');
  });

  it.each([
    ['is late', 1, () => undefined],
    ['is gone', LONG_MS, (gone: AbortController) => gone.abort()],
  ])('begins no work whose caller %s', async (_name, waitMs, leave) => {
    const turns = new ThreadTurns(['one'], 1, waitMs);
    const gone = new AbortController();
    let end: () => void = () => undefined;
    const first = turns.take(() => new Promise<void>((resolve) => (end = resolve)));
    const waiting = turns.take(() => Promise.reject(new Error('begun')), gone.signal);
    leave(gone);
    await expect(waiting).rejects.toThrow(NoThreadError);
    end();
    await first;
    await expect(turns.take((thread) => Promise.resolve(thread))).resolves.toBe('one');
  });
});
