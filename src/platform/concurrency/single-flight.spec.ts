import { expect, it } from 'vitest';
import { SingleFlight } from './single-flight.js';

it('runs the work of a key once for concurrent callers, and again after it has ended', async () => {
  const flight = new SingleFlight<string, number>();
  let runs = 0;
  const work = (): Promise<number> => Promise.resolve((runs += 1));
  expect(await Promise.all([flight.run('a', work), flight.run('a', work), flight.run('b', work)])).toEqual([
    1, 1, 2,
  ]);
  expect(await flight.run('a', work)).toBe(3);
});

it('reports a failure to every caller and runs again afterwards', async () => {
  const flight = new SingleFlight<string, string>();
  const fail = (): Promise<string> => Promise.reject(new Error('no'));
  const outcomes = await Promise.allSettled([flight.run('a', fail), flight.run('a', fail)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await flight.run('a', () => Promise.resolve('yes'))).toBe('yes');
});

it('waits for a run without starting or failing one', async () => {
  const flight = new SingleFlight<string, void>();
  let hasEnded = false;
  const run = flight.run('a', async () => {
    await Promise.resolve();
    hasEnded = true;
    throw new Error('no');
  });
  await Promise.all([flight.settled('a'), expect(run).rejects.toThrow('no')]);
  expect(hasEnded).toBe(true);
  await flight.settled('b');
});
