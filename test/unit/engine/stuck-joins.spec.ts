import { describe, expect, it } from 'vitest';
import { engineOf } from '../../support/runtime/checked-engine.js';
import { returning, TestGraph } from '../../support/runtime/graph-builder.js';
import { type MemoryEngine, type MemoryInstance, positions } from '../../support/runtime/memory-engine.js';

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

/** The joins that can never be completed, with the sources of the flows that are missing. */
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
  it('is found when the other branch has ended elsewhere, whichever comes first', () => {
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

  it('is none while somebody can still come, and goes on when they do', () => {
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

  it('is none while a boundary event can still lead to it', () => {
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

  it('is found behind an exclusive choice, at once', () => {
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

  it('is found where two joins wait for each other', () => {
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

  it('is none any more when somebody goes back', () => {
    const { engine, instance } = startOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b', [returning('done')])
        .xor('which')
        .user('elsewhere')
        .and('join')
        .user('after')
        .end()
        .end('other')
        .flow('start -> fork -> a -> join', 'fork -> b -> which', 'which -> join ? ok')
        .flow('which -> elsewhere default', 'elsewhere -> other', 'join -> after -> end'),
    );
    engine.act(instance, 'a.done');
    engine.act(instance, 'b.done');
    expect(stuck(instance)).toEqual({ join: ['which'] });
    engine.act(instance, 'b.done');
    expect(stuck(instance)).toEqual({});
    engine.act(instance, 'b.done', { ok: true });
    expect(positions(instance)).toEqual(['after ACTIVE ARRIVED']);
  });
});
