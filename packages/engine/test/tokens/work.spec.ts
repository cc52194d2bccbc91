import { describe, expect, it } from 'vitest';
import { engineOf, expectFailure, save, TestGraph } from './graph-builder.js';
import { positions } from '../support/memory-engine.js';

const LIST = Array.from({ length: 1000 }, (_, index) => index);
/** Takes nearly half of the work budget of a step. */
const HEAVY = 'l.map(x, x + 1).map(x, x + 1).map(x, x + 1).size() == 0';

describe('the work of one step', () => {
  it('is shared by all conditions of a gateway', () => {
    const graph = new TestGraph().start().xor('x').user('last').flow('start -> x', 'x -> last default');
    for (let index = 0; index < 30; index += 1) {
      graph.user(`u${index}`).flow(`x -> u${index} ? ${HEAVY} && ${index} >= 0`);
    }
    expectFailure(() => engineOf(graph).start('test', { l: LIST }), {
      name: 'EngineIncident',
      type: 'GATEWAY_EVALUATION',
      message: expect.stringContaining('100000 steps of work') as string,
    });
  });

  it('is shared by all templates of a node, byte by byte', () => {
    const actions = (count: number) =>
      Array.from({ length: count }, (_, index) => save(`s${index}`, { b: '${a}' }));
    const run = (count: number) =>
      engineOf(new TestGraph().start().task('t', actions(count)).user('u').flow('start -> t -> u')).start(
        'test',
        { a: 'x'.repeat(200_000) },
      );
    expect(positions(run(2))).toEqual(['u ACTIVE ARRIVED']);
    expectFailure(() => run(30), { name: 'EngineIncident', type: 'CONDITION_EVALUATION' });
  });

  it('is shared by all copies of data with very many members', () => {
    const data = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 1]));
    const actions = Array.from({ length: 10 }, (_, index) => save(`s${index}`, { b: index }));
    const graph = new TestGraph().start().task('t', actions).user('u').flow('start -> t -> u');
    expectFailure(() => engineOf(graph).start('test', data), { name: 'EngineIncident', type: 'NODE' });
  });

  it('continues in the background when each single node is within the limit', () => {
    const graph = new TestGraph().start();
    const names = Array.from({ length: 12 }, (_, index) => `x${index}`);
    names.forEach((name) => graph.xor(name));
    graph.user('u').user('never').flow('start -> x0');
    names.forEach((name, index) =>
      graph.flow(`${name} -> ${names[index + 1] ?? 'u'} default`, `${name} -> never ? ${HEAVY}`),
    );
    const engine = engineOf(graph);
    const instance = engine.start('test', { l: LIST });
    expect(engine.jobs.map(({ job }) => job.kind)).toEqual(['CONTINUE']);
    engine.run();
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });
});
