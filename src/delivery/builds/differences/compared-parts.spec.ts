import { expect, it } from 'vitest';
import type { YieldingWork } from '#engine/support';
import { differencesOf, partsOfProcess, partsOfSystems } from './compared-parts.js';

const MANY = 500;

/** Returns the result of interruptible work and how often it yielded. */
function runSteps<Result>(steps: YieldingWork<Result>): [Result, number] {
  for (let count = 0; ; count += 1) {
    const { done, value } = steps.next();
    if (done === true) {
      return [value, count];
    }
  }
}

it('yields at each element of a process, at each tool, and at each compared part', () => {
  const numbers = Array.from({ length: MANY }, (_, index) => index);
  const node = { scope: null, lane: null, defaultFlow: null, starts: [], boundaries: [], attachedTo: null };
  const graph = {
    name: 'many',
    lanes: [],
    nodes: numbers.map((index) => ({ ...node, index, key: `n${index}` })),
    flows: numbers.map((index) => ({ key: `f${index}`, source: 0, target: 1, condition: null })),
  };
  const [[process], elements] = runSteps(partsOfProcess('app', Buffer.from(JSON.stringify(graph))));
  expect(process?.members.size).toBe(2 * MANY + 2);
  expect(elements).toBeGreaterThan(2 * MANY);

  const systems = [{ systemId: 's', resourceName: 'stock' }];
  const tools = numbers.map((index) => ({ systemId: 's', name: `t${index}`, enabled: true }));
  const [parts, steps] = runSteps(partsOfSystems('app', systems as never, tools as never));
  expect(parts).toHaveLength(MANY + 1);
  expect(steps).toBeGreaterThan(MANY);

  const [differences, compared] = runSteps(differencesOf(parts, []));
  expect(differences).toHaveLength(MANY + 1);
  expect(compared).toBeGreaterThan(MANY);
});
