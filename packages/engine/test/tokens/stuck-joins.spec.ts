import { describe, expect, it } from 'vitest';
import { engineOf, returning, TestGraph } from './graph-builder.js';
import { LIMITS, type MemoryEngine, type MemoryInstance, positions } from '../support/memory-engine.js';

/** Two branches meet at `join`; `b` may go elsewhere first. */
function branches(): TestGraph {
  return new TestGraph()
    .start()
    .and('fork')
    .user('a', [returning('done')])
    .user('b', [returning('done')])
    .xor('which')
    .and('join')
    .user('after')
    .end()
    .end('other')
    .flow('start -> fork -> a -> join', 'fork -> b -> which', 'which -> join ? ok', 'which -> other default')
    .flow('join -> after -> end');
}

/** Returns the joins that can never be completed, with the sources of the missing flows. */
function stuck({ state, definition }: MemoryInstance): Record<string, string[]> {
  return Object.fromEntries(
    state.joins
      .filter(({ missing }) => missing !== undefined)
      .map(({ node, missing = [] }) => [
        definition.node(node).key,
        missing.map((flow) => definition.node(definition.flow(flow).source).key),
      ]),
  );
}

const startOf = (graph: TestGraph): { engine: MemoryEngine; instance: MemoryInstance } => {
  const engine = engineOf(graph);
  return { engine, instance: engine.start('test', { ok: false }) };
};

describe('a join that can never be completed', () => {
  it('is found when the other branch has ended elsewhere, in either order', () => {
    for (const order of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      const { engine, instance } = startOf(branches());
      engine.act(instance, `${order[0]}.done`);
      expect(stuck(instance)).toEqual({});
      engine.act(instance, `${order[1]}.done`);
      expect(stuck(instance)).toEqual({ join: ['which'] });
      expect(instance.state.state).toBe('STARTED');
    }
  });

  it('is found after an embedded subprocess with several outgoing flows', () => {
    const { instance } = startOf(
      new TestGraph()
        .start()
        .sub('s')
        .start('inner', { in: 's' })
        .end('done', { type: 'NONE' }, { in: 's' })
        .xor('which')
        .and('join')
        .end()
        .end('other')
        .flow('inner -> done', 'start -> s -> join -> end', 's -> which')
        .flow('which -> join ? ok', 'which -> other default'),
    );
    expect(stuck(instance)).toEqual({ join: ['which'] });
  });

  it('is not stuck while a token can still arrive, and fires when it does', () => {
    const { engine, instance } = startOf(branches());
    engine.act(instance, 'a.done');
    engine.act(instance, 'b.done', { ok: true });
    expect(positions(instance)).toEqual(['after ACTIVE ARRIVED']);
    expect(instance.state.joins).toEqual([]);
  });

  it('is found when an interrupting event took the other branch away', () => {
    const { engine, instance } = startOf(
      branches()
        .boundary('late', 'b', { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT1S' } })
        .end('gone')
        .flow('late -> gone'),
    );
    engine.act(instance, 'a.done');
    engine.advance(1_000);
    expect(stuck(instance)).toEqual({ join: ['which'] });
  });

  it('is not stuck while a boundary event can still lead to it', () => {
    const { engine, instance } = startOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .and('join')
        .end()
        .end('other')
        .boundary('late', 'b', { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT1S' } })
        .flow('start -> fork -> a -> join', 'fork -> b -> other', 'late -> join', 'join -> end'),
    );
    engine.act(instance, 'a.done');
    expect(stuck(instance)).toEqual({});
    engine.act(instance, 'b.done');
    expect(stuck(instance)).toEqual({ join: ['late'] });
  });

  it('is found immediately after an exclusive choice', () => {
    const { instance } = startOf(
      new TestGraph()
        .start()
        .xor('which')
        .task('a')
        .task('b')
        .and('join')
        .end()
        .flow(
          'start -> which',
          'which -> a ? ok',
          'which -> b default',
          'a -> join',
          'b -> join',
          'join -> end',
        ),
    );
    expect(stuck(instance)).toEqual({ join: ['a'] });
  });

  it('is found when other tokens moved for longer than a step', () => {
    const inside = { in: 's' };
    const tasks = Array.from({ length: 12 }, (_, index) => `t${index}`);
    const graph = new TestGraph()
      .start()
      .and('fork')
      .sub('s')
      .start('inner', inside)
      .xor('which', inside)
      .task('x', [], inside)
      .task('y', [], inside)
      .and('join', inside)
      .end('done', { type: 'NONE' }, inside)
      .end()
      .end('far')
      .flow('inner -> which', 'which -> x ? ok', 'which -> y default', 'x -> join -> done', 'y -> join');
    tasks.forEach((task) => graph.task(task));
    const engine = engineOf(graph.flow('start -> fork -> s -> end', `fork -> ${tasks.join(' -> ')} -> far`));
    engine.limits = { ...LIMITS, nodesPerStep: 13 };
    const instance = engine.start('test', { ok: false });
    expect(instance.state).toMatchObject({ joins: [{}], pending: [{}] });
    engine.run();
    expect(instance.state.pending).toEqual([]);
    expect(stuck(instance)).toEqual({ join: ['x'] });
  });

  it('is found in an embedded subprocess', () => {
    const { instance } = startOf(
      new TestGraph()
        .start()
        .sub('s')
        .end()
        .start('inner', { in: 's' })
        .xor('which', { in: 's' })
        .task('a', [], { in: 's' })
        .task('b', [], { in: 's' })
        .and('join', { in: 's' })
        .end('innerEnd', { type: 'NONE' }, { in: 's' })
        .flow('start -> s -> end', 'inner -> which', 'which -> a ? ok', 'which -> b default')
        .flow('a -> join', 'b -> join', 'join -> innerEnd'),
    );
    expect(stuck(instance)).toEqual({ join: ['a'] });
  });

  it('is found when two joins wait for each other', () => {
    const { instance } = startOf(
      new TestGraph()
        .start()
        .and('fork')
        .and('one')
        .and('two')
        .end()
        .flow('start -> fork', 'fork -> one', 'fork -> two', 'one -> two', 'two -> one', 'one -> end'),
    );
    expect(stuck(instance)).toEqual({ one: ['two'], two: ['one'] });
  });

  it('is not stuck while a token waits in a loop that may still lead to it, and is found after that', () => {
    const { engine, instance } = startOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .xor('again')
        .xor('out')
        .and('join')
        .end()
        .end('other')
        .flow('start -> fork -> a -> join', 'fork -> b -> again', 'again -> b ? more', 'again -> out default')
        .flow('out -> join ? ok', 'out -> other default', 'join -> end'),
    );
    engine.act(instance, 'a.done', { more: true });
    for (let round = 0; round < 3; round += 1) {
      engine.act(instance, 'b.done');
      expect(stuck(instance)).toEqual({});
    }
    engine.act(instance, 'b.done', { more: false });
    expect(stuck(instance)).toEqual({ join: ['out'] });
  });

  it('is never an inclusive join, which fires with the tokens it has', () => {
    const { engine, instance } = startOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .xor('which')
        .or('join')
        .user('after')
        .end()
        .end('other')
        .flow('start -> fork -> a -> join', 'fork -> b -> which', 'which -> join ? ok')
        .flow('which -> other default', 'join -> after -> end'),
    );
    engine.act(instance, 'a.done');
    expect(positions(instance)).toContain('b ACTIVE ARRIVED');
    engine.act(instance, 'b.done');
    expect(stuck(instance)).toEqual({});
    expect(positions(instance).filter((position) => position.startsWith('after'))).toHaveLength(1);
  });

  it('is found after an inclusive join that can fire, but not after one that cannot', () => {
    const { engine, instance } = startOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .user('c')
        .or('either')
        .and('join')
        .end()
        .end('other')
        .flow('start -> fork -> a -> either', 'fork -> b -> either', 'fork -> c -> join')
        .flow('either -> join -> end'),
    );
    engine.act(instance, 'c.done');
    engine.act(instance, 'a.done');
    expect(stuck(instance)).toEqual({});
    engine.act(instance, 'b.done');
    expect(instance.state.state).toBe('FINISHED');
  });

  it('is found in an embedded subprocess at the level of the join alone, also when a boundary event took a branch away', () => {
    const { engine, instance } = startOf(
      new TestGraph()
        .start()
        .and('outer')
        .sub('s')
        .user('bystander')
        .end()
        .start('inner', { in: 's' })
        .and('fork', { in: 's' })
        .user('a', [returning('done')], { in: 's' })
        .user('b', [returning('done')], { in: 's' })
        .boundary('late', 'b', { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT1S' } })
        .end('gone', { type: 'NONE' }, { in: 's' })
        .and('join', { in: 's' })
        .end('innerEnd', { type: 'NONE' }, { in: 's' })
        .flow('start -> outer -> s -> end', 'outer -> bystander -> end', 'inner -> fork -> a -> join')
        .flow('fork -> b -> join', 'late -> gone', 'join -> innerEnd'),
    );
    engine.act(instance, 'a.done');
    expect(stuck(instance)).toEqual({});
    engine.advance(1_000);
    expect(stuck(instance)).toEqual({ join: ['b'] });
    engine.act(instance, 'bystander.done');
    expect(stuck(instance)).toEqual({ join: ['b'] });
    expect(instance.state.state).toBe('STARTED');
  });

  it('is not stuck while a boundary event and its activity both lead to it', () => {
    const { engine, instance } = startOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .boundary('late', 'b', { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT1S' } })
        .xor('merged')
        .and('join')
        .end()
        .flow('start -> fork -> a -> join', 'fork -> b -> merged', 'late -> merged', 'merged -> join -> end'),
    );
    engine.act(instance, 'a.done');
    engine.advance(1_000);
    expect(stuck(instance)).toEqual({});
    expect(instance.state.state).toBe('FINISHED');
  });
});
