import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { EmbeddedTurns } from './connection/embedded-file.js';

/** @returns who had a turn, in that order, when all of these asked while someone else had it */
async function orderOf(asking: readonly string[]): Promise<string[]> {
  const turns = new EmbeddedTurns();
  const order: string[] = [];
  let end = (): void => undefined;
  let first: Promise<void> | undefined;
  await new Promise<void>((begun) => {
    first = turns.take(() => {
      begun();
      return new Promise<void>((resolve) => (end = resolve));
    }, false);
  });
  const others = asking.map((name) =>
    turns.take(() => Promise.resolve(order.push(name)), name.startsWith('job')),
  );
  end();
  await Promise.all([first, ...others]);
  return order;
}

describe('EmbeddedTurns', () => {
  it('lets requests go before background work, each in its order', async () => {
    expect(await orderOf(['job1', 'job2', 'a', 'b', 'c'])).toEqual(['a', 'b', 'c', 'job1', 'job2']);
  });

  it('gives background work every fifth turn', async () => {
    const requests = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];

    expect(await orderOf(['job1', ...requests, 'job2', 'job3'])).toEqual([
      'a',
      'b',
      'c',
      'd',
      'job1',
      'e',
      'f',
      'g',
      'h',
      'job2',
      'i',
      'job3',
    ]);
  });

  it('lets one in at a time, and goes on after one that failed', async () => {
    const turns = new EmbeddedTurns();
    let inside = 0;
    let most = 0;
    const work = async (): Promise<never> => {
      most = Math.max(most, (inside += 1));
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      throw new Error('no');
    };
    const done = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) => turns.take(work, at % 2 === 0)),
    );

    expect(done.every(({ status }) => status === 'rejected')).toBe(true);
    expect(most).toBe(1);
  });

  it('does work in the context of who asked for it', async () => {
    const turns = new EmbeddedTurns();
    const context = new AsyncLocalStorage<string>();
    const seen = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        context.run(name, () => turns.take(() => Promise.resolve(context.getStore()), false)),
      ),
    );

    expect(seen).toEqual(['a', 'b', 'c']);
  });
});
