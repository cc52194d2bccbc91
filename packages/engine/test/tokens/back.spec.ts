import { describe, expect, it } from 'vitest';
import type { GraphAction } from '../../src/definitions/model/process-graph.types.js';
import {
  engineOf,
  expectFailure,
  automatic,
  manual,
  returning,
  save,
  TestGraph,
  workflow,
} from './graph-builder.js';
import { LIMITS, positions, type MemoryEngine, type MemoryInstance } from '../support/memory-engine.js';

/** start -> a -> b -> c -> end; a token can go back to `a.go`. */
function line(action: Partial<GraphAction> = {}, canGoBack = true): TestGraph {
  return new TestGraph()
    .start()
    .user('a', [returning('go', action)])
    .user('b', undefined, { canGoBack })
    .user('c')
    .end()
    .flow('start -> a -> b -> c -> end');
}

function tokenAt(instance: MemoryInstance, key: string) {
  return [...instance.state.tokens.values()].find(({ node }) => instance.definition.node(node).key === key)!;
}

function openAt(engine: MemoryEngine, instance: MemoryInstance, key: string): string[] {
  return engine
    .open(instance, tokenAt(instance, key))
    .map(({ svcUuid, back }) => `${svcUuid}${back ? ' back' : ''}`);
}

describe('a back action', () => {
  it('aborts the token and makes a new one on the node that owns the action', () => {
    const engine = engineOf(line());
    const instance = engine.start('test');
    const [old] = instance.state.tokens.keys();
    engine.act(instance, 'a.go', { x: 1 });
    engine.act(instance, 'b.done', { y: 2 });
    expect(openAt(engine, instance, 'c')).toEqual(['ui:c.done', 'ui:a.go back']);
    const { action } = engine.act(instance, 'a.go', { z: 3 });
    const [token] = instance.state.tokens.values();
    expect(action).toEqual({ tokenId: token?.id, node: 1, back: true });
    expect(token?.id).not.toBe(old);
    expect(instance.tokens.get(old!)?.state).toBe('ABORTED');
    expect(positions(instance)).toEqual(['a ACTIVE ARRIVED']);
    expect(instance.state).toMatchObject({ backCounter: 1, data: { x: 1, y: 2, z: 3 } });
    expect(openAt(engine, instance, 'a')).toEqual(['ui:a.go']);
    expectFailure(() => engine.act(instance, 'c.done', {}, old), { code: 'TOKEN_NOT_ACTIVE' });
    engine.act(instance, 'a.go');
    expect(positions(instance)).toEqual(['b ACTIVE ARRIVED']);
  });

  it('removes and restores the configured keys', () => {
    const engine = engineOf(line({ back: { removeKeys: ['gone.x'], restoreKeys: ['kept', 'made'] } }));
    const instance = engine.start('test', { kept: 1, other: 1, gone: { x: 1, y: 1 } });
    engine.act(instance, 'a.go', { kept: 2, made: 2, other: 2 });
    engine.act(instance, 'a.go', {});
    expect(instance.state.data).toEqual({ kept: 1, other: 2, gone: { y: 1 } });
  });

  it('stores its body within its keys', () => {
    const engine = engineOf(line({ keys: ['x'] }));
    const instance = engine.start('test');
    engine.act(instance, 'a.go');
    engine.act(instance, 'a.go', { x: 1, y: 1 });
    expect(instance.state.data).toEqual({ x: 1 });
  });

  it('restores the earlier action states of the node', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('a', [
          save('auto', { n: '${n + 1}' }),
          manual('first', { order: 1 }),
          returning('go', { order: 2 }),
          manual('last', { order: 3 }),
        ])
        .user('b')
        .flow('start -> a -> b'),
    );
    const instance = engine.start('test', { n: 0 });
    ['first', 'go', 'last'].forEach((name) => engine.act(instance, `a.${name}`));
    engine.act(instance, 'a.go');
    expect(positions(instance)).toEqual(['a ACTIVE EXECUTED_PARTIAL']);
    expect(Object.keys(tokenAt(instance, 'a').actions)).toEqual(['a.auto', 'a.first']);
    expect(instance.state.data).toEqual({ n: 1 });
    engine.act(instance, 'a.go');
    engine.act(instance, 'a.last');
    expect(positions(instance)).toEqual(['b ACTIVE ARRIVED']);
  });

  it('is available on a node that forbids going back, but not past it', () => {
    const engine = engineOf(line({}, false));
    const instance = engine.start('test');
    const [id] = instance.state.tokens.keys();
    engine.act(instance, 'a.go');
    expect(openAt(engine, instance, 'b')).toEqual(['ui:b.done', 'ui:a.go back']);
    engine.act(instance, 'b.done');
    expect(openAt(engine, instance, 'c')).toEqual(['ui:c.done']);
    expectFailure(() => engine.act(instance, 'a.go', {}, id), { code: 'ACTION_NOT_AVAILABLE' });
    expect(instance.state.returnPoints).toEqual([]);
  });

  it('is not available before it was executed, nor when it does not allow it', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('a', [manual('done'), returning('go', { optional: true })])
        .user('b')
        .flow('start -> a -> b'),
    );
    const instance = engine.start('test');
    const [id] = instance.state.tokens.keys();
    engine.act(instance, 'a.done');
    expectFailure(() => engine.act(instance, 'a.go', {}, id), { code: 'ACTION_NOT_AVAILABLE' });
    expectFailure(() => engine.act(instance, 'a.done', {}, id), { code: 'ACTION_NOT_AVAILABLE' });
  });

  it('can be followed by one further back', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('a', [returning('go')])
        .user('b', [returning('go')])
        .user('c')
        .flow('start -> a -> b -> c'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.go');
    engine.act(instance, 'b.go');
    expect(openAt(engine, instance, 'c')).toEqual(['ui:c.done', 'ui:b.go back', 'ui:a.go back']);
    engine.act(instance, 'b.go');
    expect(openAt(engine, instance, 'b')).toEqual(['ui:b.go', 'ui:a.go back']);
    engine.act(instance, 'a.go');
    expect(openAt(engine, instance, 'a')).toEqual(['ui:a.go']);
    expect(instance.state).toMatchObject({ backCounter: 2, returnPoints: [] });
  });

  it('goes to the latest visit in a loop', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .xor('merge')
        .user('a', [returning('go', { back: { removeKeys: [], restoreKeys: ['n'] } })])
        .user('b')
        .xor('x')
        .end()
        .flow('start -> merge -> a -> b -> x', 'x -> merge ? n < 3', 'x -> end default'),
    );
    const instance = engine.start('test', { n: 0 });
    engine.act(instance, 'a.go', { n: 1 });
    engine.act(instance, 'b.done');
    engine.act(instance, 'a.go', { n: 2 });
    expect(instance.state.returnPoints).toHaveLength(1);
    engine.act(instance, 'a.go');
    expect(instance.state.data).toEqual({ n: 1 });
    expect(positions(instance)).toEqual(['a ACTIVE ARRIVED']);
  });

  it('cancels timers and waits, and sets those of its node again', () => {
    const timer = { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT9S' } } as const;
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('a', [returning('go')])
        .user('b')
        .user('late')
        .boundary('onA', 'a', timer)
        .boundary('onB', 'b', { type: 'MESSAGE', message: 'm', correlation: null })
        .flow('start -> a -> b', 'onA -> late', 'onB -> late'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.go');
    expect([engine.jobs.length, engine.waits.length]).toEqual([0, 1]);
    engine.act(instance, 'a.go');
    expect([engine.jobs.length, engine.waits.length]).toEqual([1, 0]);
    engine.advance(9_000);
    expect(positions(instance)).toEqual(['late ACTIVE ARRIVED']);
  });

  it('restarts the background work of its node', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('a', [
          returning('go', { optional: true }),
          manual('on', { optional: true }),
          workflow('w', { order: 1 }),
        ])
        .user('b')
        .boundary('stop', 'a', { type: 'MESSAGE', message: 'stop', correlation: null })
        .flow('start -> a -> b', 'stop -> b'),
    );
    let runs = 0;
    engine.workflows.set('w', () => ({ output: (runs += 1), afterMs: 1_000 }));
    const instance = engine.start('test');
    engine.run();
    engine.act(instance, 'a.go');
    engine.publish('stop');
    engine.act(instance, 'a.go');
    expect(positions(instance)).toEqual(['a ACTIVE EXECUTING']);
    engine.advance(5_000);
    expect(runs).toBe(2);
    expect(positions(instance)).toEqual(['b ACTIVE ARRIVED']);
  });

  it('ends processes that were started in between, and no others', () => {
    const start = automatic('s', {
      kind: 'START_SUBPROCESS',
      process: 'child',
      appId: null,
      startCondition: null,
      copy: { mode: 'ALL' },
    });
    const engine = engineOf(
      new TestGraph()
        .start()
        .task('before', [start])
        .user('a', [returning('go')])
        .task('between', [start])
        .user('b', [returning('go')])
        .task('behind', [start])
        .user('c')
        .flow('start -> before -> a -> between -> b -> behind -> c'),
      new TestGraph('child').start().user('t').flow('start -> t'),
    );
    const instance = engine.start('test');
    const states = () => engine.children(instance).map(({ state }) => state.state);
    engine.act(instance, 'a.go');
    engine.act(instance, 'b.go');
    engine.run();
    engine.act(instance, 'b.go');
    engine.run();
    expect(states()).toEqual(['STARTED', 'STARTED', 'ABORTED']);
    engine.act(instance, 'a.go');
    engine.run();
    expect(states()).toEqual(['STARTED', 'ABORTED', 'ABORTED']);
  });

  it('takes a token away from a call activity', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('a', [returning('go')])
        .call('c')
        .user('u')
        .flow('start -> a -> c -> u'),
      new TestGraph('child').start().user('t').flow('start -> t'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.go');
    engine.run();
    engine.act(instance, 'a.go');
    engine.run();
    expect(engine.children(instance)[0]?.state.state).toBe('ABORTED');
    expect(positions(instance)).toEqual(['a ACTIVE ARRIVED']);
  });
});

const forked = () =>
  new TestGraph()
    .start()
    .user('a', [returning('go')])
    .and('fork')
    .user('b1', [returning('go')])
    .user('b2')
    .user('c')
    .and('join')
    .user('d')
    .end()
    .flow('start -> a -> fork -> b1 -> b2 -> join -> d -> end', 'fork -> c -> join');

describe('a back action with branches', () => {
  it('aborts all branches and the held parent from before the split', () => {
    const engine = engineOf(forked());
    const instance = engine.start('test');
    engine.act(instance, 'a.go');
    engine.act(instance, 'c.done');
    engine.act(instance, 'a.go', {}, tokenAt(instance, 'b1').id);
    expect(positions(instance)).toEqual(['a ACTIVE ARRIVED']);
    expect(instance.state.joins).toEqual([]);
    expect([...instance.tokens.values()].map(({ state }) => state)).toEqual([
      'ABORTED',
      'ABORTED',
      'ABORTED',
      'ACTIVE',
    ]);
    ['a.go', 'b1.go', 'b2.done', 'c.done', 'd.done'].forEach((action) => engine.act(instance, action));
    expect(instance.state.state).toBe('FINISHED');
  });

  it('touches only its own branch from within it', () => {
    const engine = engineOf(forked());
    const instance = engine.start('test');
    ['a.go', 'b1.go', 'c.done'].forEach((action) => engine.act(instance, action));
    engine.act(instance, 'b1.go');
    expect(positions(instance)).toEqual([
      'b1 ACTIVE ARRIVED',
      'fork ON_HOLD EXECUTED_COMPLETE',
      'join INACTIVE ARRIVED',
    ]);
    ['b1.go', 'b2.done', 'd.done'].forEach((action) => engine.act(instance, action));
    expect(instance.state.state).toBe('FINISHED');
  });

  it('goes from after the join to before the split, not into a branch', () => {
    const engine = engineOf(forked());
    const instance = engine.start('test');
    ['a.go', 'b1.go', 'b2.done', 'c.done'].forEach((action) => engine.act(instance, action));
    expect(openAt(engine, instance, 'd')).toEqual(['ui:d.done', 'ui:a.go back']);
    engine.act(instance, 'a.go');
    expect(positions(instance)).toEqual(['a ACTIVE ARRIVED']);
  });

  it('makes an inclusive join check again', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('first', [returning('go')])
        .xor('x')
        .user('away')
        .user('b')
        .or('join')
        .user('d')
        .flow(
          'start -> fork -> first -> x',
          'x -> away ? leave',
          'x -> join default',
          'fork -> b -> join -> d',
        ),
    );
    const instance = engine.start('test', { leave: true });
    engine.act(instance, 'first.go');
    engine.act(instance, 'first.go');
    engine.act(instance, 'b.done');
    expect(positions(instance)).toContain('join INACTIVE ARRIVED');
    engine.act(instance, 'first.go');
    expect(positions(instance)).toEqual([
      'away ACTIVE ARRIVED',
      'd ACTIVE ARRIVED',
      'fork ON_HOLD EXECUTED_COMPLETE',
    ]);
  });

  it('leaves an embedded subprocess and aborts its tokens', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('a', [returning('go')])
        .sub('s')
        .user('u')
        .start('inner', { in: 's' })
        .user('b', [returning('go')], { in: 's' })
        .user('c', undefined, { in: 's' })
        .flow('start -> a -> s -> u', 'inner -> b -> c'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.go');
    engine.act(instance, 'b.go');
    engine.act(instance, 'b.go');
    expect(positions(instance)).toEqual(['b ACTIVE ARRIVED', 's ON_HOLD EXECUTING']);
    engine.act(instance, 'a.go');
    expect(positions(instance)).toEqual(['a ACTIVE ARRIVED']);
    ['a.go', 'b.go', 'c.done'].forEach((action) => engine.act(instance, action));
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('aborts tokens that a boundary event has started since', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('a', [returning('go')])
        .user('b')
        .user('late')
        .boundary(
          'time',
          'b',
          { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT1S' } },
          { interrupting: false },
        )
        .flow('start -> a -> b', 'time -> late'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.go');
    engine.advance(1_000);
    engine.act(instance, 'a.go', {}, tokenAt(instance, 'b').id);
    expect(positions(instance)).toEqual(['a ACTIVE ARRIVED']);
  });
});

describe('return points', () => {
  it('are bounded in number and bytes; the oldest go first', () => {
    const names = ['a', 'b', 'c', 'd'];
    const graph = new TestGraph().start();
    names.forEach((name) =>
      graph.user(name, [returning('go', { back: { removeKeys: [], restoreKeys: ['text'] } })]),
    );
    graph.user('e').flow('start -> a -> b -> c -> d -> e');
    const engine = engineOf(graph);
    engine.limits = { ...LIMITS, returnPoints: 3, dataBytes: 1_000 };
    const instance = engine.start('test', { text: 'x'.repeat(10) });
    names.forEach((name) => engine.act(instance, `${name}.go`));
    expect(instance.state.returnPoints).toHaveLength(3);
    expect(instance.warnings).toEqual([expect.stringContaining('return points')]);
    const large = engine.start('test', { text: 'x'.repeat(400) });
    names.forEach((name) => engine.act(large, `${name}.go`));
    expect(large.state.returnPoints).toHaveLength(2);
    expect(openAt(engine, large, 'e')).toEqual(['ui:e.done', 'ui:d.go back', 'ui:c.go back']);
  });
});
