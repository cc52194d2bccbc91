import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { EmbeddedTurns } from './connection/embedded-file.js';

/** Returns the order in which work runs that was queued behind other work. Names of background work begin with `job`. */
async function orderOf(names: readonly string[]): Promise<string[]> {
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
  const others = names.map((name) =>
    turns.take(() => Promise.resolve(order.push(name)), name.startsWith('job')),
  );
  end();
  await Promise.all([first, ...others]);
  return order;
}

describe('EmbeddedTurns', () => {
  it('runs requests before background work, each in order', async () => {
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

  it('runs one piece of work at a time, and continues after a failure', async () => {
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

  it('runs work in the async context of its caller', async () => {
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
