import { describe, expect, it } from 'vitest';
import { EngineIncident } from '../../src/tokens/state/engine.errors.js';
import { engineOf, manual, TestGraph } from './graph-builder.js';
import { positions, trace } from '../support/memory-engine.js';

const exclusive = () =>
  new TestGraph()
    .start()
    .xor('x')
    .user('a')
    .user('b')
    .user('c')
    .end()
    .flow('start -> x', 'x -> a ? amount > 10', 'x -> b ? amount > 5', 'a -> end', 'b -> end', 'c -> end');

describe('exclusive gateway', () => {
  it('takes the first true flow in the modelled order', () => {
    expect(trace(engineOf(exclusive()).start('test', { amount: 20 }), 'USER_TASK')).toEqual(['a']);
    expect(trace(engineOf(exclusive()).start('test', { amount: 7 }), 'USER_TASK')).toEqual(['b']);
  });

  it('takes the default flow when none is true', () => {
    const engine = engineOf(exclusive().flow('x -> c default'));
    expect(positions(engine.start('test', { amount: 1 }))).toEqual(['c ACTIVE ARRIVED']);
  });

  it('is an incident when no flow can be taken', () => {
    const engine = engineOf(exclusive());
    expect(() => engine.start('test', { amount: 1 })).toThrow(
      expect.objectContaining({ source: 'NODE', type: 'NODE', node: 1 }),
    );
  });

  it('is an incident when a condition fails, never "false"', () => {
    const engine = engineOf(exclusive().flow('x -> c default'));
    expect(() => engine.start('test', {})).toThrow(EngineIncident);
    expect(() => engine.start('test', {})).toThrow(expect.objectContaining({ type: 'GATEWAY_EVALUATION' }));
  });

  it('passes on each arriving token separately', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .xor('merge')
        .user('a')
        .end()
        .flow('start -> fork -> merge -> a -> end', 'fork -> merge'),
    );
    expect(trace(engine.start('test'), 'USER_TASK')).toEqual(['a', 'a']);
  });
});

const parallel = () =>
  new TestGraph()
    .start()
    .and('fork')
    .user('a')
    .user('b')
    .and('join')
    .user('c')
    .end()
    .flow('start -> fork -> a -> join -> c -> end', 'fork -> b -> join');

describe('parallel gateway', () => {
  it('holds the parent while one child for each branch runs', () => {
    const instance = engineOf(parallel()).start('test');
    expect(positions(instance)).toEqual([
      'a ACTIVE ARRIVED',
      'b ACTIVE ARRIVED',
      'fork ON_HOLD EXECUTED_COMPLETE',
    ]);
    const [parent, ...children] = [...instance.state.tokens.values()];
    expect(parent).toMatchObject({ syncCount: 2, syncFinished: 0 });
    expect(children.map(({ parentId }) => parentId)).toEqual([parent?.id, parent?.id]);
  });

  it('makes a child inactive at the join and the parent active when all have arrived', () => {
    const engine = engineOf(parallel());
    const instance = engine.start('test');
    const parent = instance.state.tokens.keys().next().value;
    engine.act(instance, 'a.done');
    expect(positions(instance)).toEqual([
      'b ACTIVE ARRIVED',
      'fork ON_HOLD EXECUTED_COMPLETE',
      'join INACTIVE ARRIVED',
    ]);
    expect(instance.state.tokens.get(parent ?? 0)).toMatchObject({ syncCount: 2, syncFinished: 1 });
    engine.act(instance, 'b.done');
    expect(positions(instance)).toEqual(['c ACTIVE ARRIVED']);
    expect([...instance.state.tokens.keys()]).toEqual([parent]);
    engine.act(instance, 'c.done');
    expect(instance.state.state).toBe('FINISHED');
    expect(instance.state.joins).toEqual([]);
  });

  it('counts arrivals for each flow, not for the gateway', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .xor('merge')
        .user('a')
        .and('join')
        .end()
        .flow('start -> fork -> merge -> join -> end', 'fork -> merge', 'fork -> a -> join'),
    );
    const instance = engine.start('test');
    expect(instance.state.joins).toMatchObject([{ arrivals: [[expect.anything(), expect.anything()], []] }]);
    engine.act(instance, 'a.done');
    expect(instance.state.state).toBe('STARTED');
    expect(instance.state.joins).toMatchObject([{ arrivals: [[expect.anything()], []] }]);
  });

  it('waits forever, and so does the instance, when a flow is never reached', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .xor('x')
        .and('join')
        .end()
        .flow('start -> x', 'x -> join ? true', 'x -> join ? false', 'join -> end'),
    );
    const instance = engine.start('test');
    expect(instance.state.state).toBe('STARTED');
    expect(positions(instance)).toEqual(['join ACTIVE ARRIVED']);
  });

  it('ignores conditions on its flows', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .flow('start -> fork', 'fork -> a ? false', 'fork -> b ? 1 / 0 == 1'),
    );
    expect(trace(engine.start('test'), 'USER_TASK')).toEqual(['a', 'b']);
  });

  it('ends the held parent with its last child', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .end()
        .flow('start -> fork -> a -> end', 'fork -> b -> end'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.done');
    expect(instance.state.state).toBe('STARTED');
    engine.act(instance, 'b.done');
    expect(instance.state.state).toBe('FINISHED');
    expect([...instance.tokens.values()].map(({ state }) => state)).toEqual([
      'INACTIVE',
      'INACTIVE',
      'INACTIVE',
    ]);
  });

  it('makes a child of the nearest common ancestor when some of its tokens remain', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('outer')
        .and('inner')
        .user('a')
        .user('b')
        .user('c')
        .and('join')
        .user('d')
        .and('close')
        .end()
        .flow(
          'start -> outer -> inner -> a -> join -> d -> close -> end',
          'inner -> b -> close',
          'outer -> c -> join',
        ),
    );
    const instance = engine.start('test');
    const root = [...instance.state.tokens.keys()][0];
    engine.act(instance, 'a.done');
    engine.act(instance, 'c.done');
    const d = [...instance.state.tokens.values()].find(
      ({ node }) => instance.definition.node(node).key === 'd',
    );
    expect(d).toMatchObject({ parentId: root, state: 'ACTIVE' });
    engine.act(instance, 'd.done');
    engine.act(instance, 'b.done');
    expect(instance.state.state).toBe('FINISHED');
  });

  it('does not grow the token tree in a loop with a branch that ends', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .xor('merge')
        .and('fork')
        .user('again')
        .end()
        .flow('start -> merge -> fork -> again -> merge', 'fork -> end'),
    );
    const instance = engine.start('test');
    for (let round = 0; round < 20; round += 1) {
      engine.act(instance, 'again.done');
    }
    expect(instance.state.tokens.size).toBe(2);
  });
});

const inclusive = () =>
  new TestGraph()
    .start()
    .or('fork')
    .user('a')
    .user('b')
    .user('c')
    .or('join')
    .user('d')
    .end()
    .flow('start -> fork', 'fork -> a ? test.contains("a")', 'fork -> b ? test.contains("b")')
    .flow('fork -> c default', 'a -> join -> d -> end', 'b -> join', 'c -> join');

describe('inclusive gateway', () => {
  it.each([
    ['a', ['a']],
    ['b', ['b']],
    ['ab', ['a', 'b']],
    ['x', ['c']],
  ])('takes every true flow, else the default: %s', (test, tasks) => {
    expect(trace(engineOf(inclusive()).start('test', { test }), 'USER_TASK')).toEqual(tasks);
  });

  it('waits for tokens that can still arrive and continues once', () => {
    const engine = engineOf(inclusive());
    const instance = engine.start('test', { test: 'ab' });
    engine.act(instance, 'b.done');
    expect(trace(instance, 'USER_TASK')).toEqual(['a', 'b']);
    engine.act(instance, 'a.done');
    expect(trace(instance, 'USER_TASK')).toEqual(['a', 'b', 'd']);
    expect(instance.state.tokens.size).toBe(1);
  });

  it('lets a single token continue unchanged', () => {
    const engine = engineOf(inclusive());
    const instance = engine.start('test', { test: 'a' });
    const [token] = instance.state.tokens.keys();
    engine.act(instance, 'a.done');
    expect([...instance.state.tokens.keys()]).toEqual([token]);
    expect(positions(instance)).toEqual(['d ACTIVE ARRIVED']);
  });

  it('takes the default of a task when no conditional flow is true, in addition to unconditional ones', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .task('t')
        .user('a')
        .user('b')
        .user('c')
        .flow('start -> t', 't -> a ? false', 't -> b', 't -> c default'),
    );
    expect(trace(engine.start('test'), 'USER_TASK')).toEqual(['b', 'c']);
  });

  it('fires when the token it waited for has ended elsewhere', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b', [manual('done', { keys: ['leave'] })])
        .xor('x')
        .or('join')
        .user('c')
        .end('gone')
        .end()
        .flow(
          'start -> fork -> a -> join -> c -> end',
          'fork -> b -> x',
          'x -> gone ? leave',
          'x -> join default',
        ),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.done');
    expect(trace(instance, 'USER_TASK')).toEqual(['a', 'b']);
    engine.act(instance, 'b.done', { leave: true });
    expect(trace(instance, 'USER_TASK')).toEqual(['a', 'b', 'c']);
  });

  it('waits for the children of a token split after an embedded subprocess, not for the token', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('p')
        .sub('s')
        .start('inner', { in: 's' })
        .end('done', { type: 'NONE' }, { in: 's' })
        .xor('which')
        .user('slow')
        .or('join')
        .user('after')
        .end()
        .end('other')
        .flow('start -> fork -> p -> join -> after -> end', 'fork -> s -> which', 's -> slow -> end')
        .flow('inner -> done', 'which -> join ? ok', 'which -> other default'),
    );
    const instance = engine.start('test', { ok: false });
    engine.act(instance, 'p.done');
    expect(positions(instance)).toContain('after ACTIVE ARRIVED');
  });

  it('waits for a token in an embedded subprocess', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .sub('s')
        .start('inner', { in: 's' })
        .user('b', [manual('done')], { in: 's' })
        .or('join')
        .user('c')
        .end()
        .flow('start -> fork -> a -> join -> c -> end', 'fork -> s -> join', 'inner -> b'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.done');
    expect(trace(instance, 'USER_TASK')).toEqual(['a', 'b']);
    engine.act(instance, 'b.done');
    expect(trace(instance, 'USER_TASK')).toEqual(['a', 'b', 'c']);
  });

  it('lets the one with the lower number fire when two only wait for each other', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .or('first')
        .or('second')
        .user('c')
        .user('d')
        .xor('x')
        .xor('y')
        .end()
        .flow('start -> fork -> a -> first -> c -> x', 'fork -> b -> second -> d -> y')
        .flow('x -> second ? false', 'x -> end default', 'y -> first ? false', 'y -> end default'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'b.done');
    engine.act(instance, 'a.done');
    expect(trace(instance, 'USER_TASK')).toEqual(['a', 'b', 'c']);
    engine.act(instance, 'c.done');
    expect(trace(instance, 'USER_TASK')).toEqual(['a', 'b', 'c', 'd']);
  });
});
