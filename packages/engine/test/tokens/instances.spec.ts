import { describe, expect, it } from 'vitest';
import { newInstance } from '../../src/tokens/state/tokens.js';
import { RuntimeDefinition } from '../../src/tokens/state/runtime-definition.js';
import { step } from '../../src/tokens/step.js';
import { engineOf, expectFailure, save, TestGraph } from './graph-builder.js';
import { LIMITS, positions, trace } from '../support/memory-engine.js';

function simple(): TestGraph {
  return new TestGraph().start().user('u').end().flow('start -> u -> end');
}

function loop(): TestGraph {
  return new TestGraph()
    .start()
    .xor('merge')
    .task('t', [save('count', { n: '${n + 1}' })])
    .xor('again')
    .end()
    .flow('start -> merge -> t -> again', 'again -> merge ? n < limit', 'again -> end default');
}

describe('an instance', () => {
  it('starts, and finishes when no token is left', () => {
    const engine = engineOf(simple());
    const instance = engine.start('test', { a: 1 });
    expect(instance.state).toMatchObject({ state: 'STARTED', data: { a: 1 } });
    engine.act(instance, 'u.done');
    expect(instance.state.state).toBe('FINISHED');
    expect(instance.events.map(({ kind }) => kind)).toEqual([
      'INSTANCE_STATE',
      'TOKEN_CREATED',
      'NODE_ENTERED',
      'NODE_LEFT',
      'NODE_ENTERED',
      'ACTION_EXECUTED',
      'NODE_LEFT',
      'NODE_ENTERED',
      'TOKEN_STATE',
      'INSTANCE_STATE',
    ]);
  });

  it('starts only once', () => {
    const engine = engineOf(simple());
    const instance = engine.start('test');
    expectFailure(() => engine.step(instance, { kind: 'START', startNode: 0, data: {} }), {
      code: 'INSTANCE_STARTED',
    });
  });

  it.each(['TERMINATED', 'EXPIRED', 'DISMISSED', 'ABORTED'] as const)(
    'ends as %s with all its tokens',
    (state) => {
      const engine = engineOf(
        new TestGraph()
          .start()
          .and('fork')
          .user('a')
          .event('t', { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT1H' } })
          .flow('start -> fork -> a', 'fork -> t'),
      );
      const instance = engine.start('test');
      engine.step(instance, { kind: 'END', state });
      expect(instance.state.state).toBe(state);
      expect(new Set([...instance.tokens.values()].map((token) => token.state))).toEqual(new Set([state]));
      expect(engine.jobs).toEqual([]);
      expectFailure(() => engine.step(instance, { kind: 'END', state }), { code: 'INSTANCE_NOT_STARTED' });
      expectFailure(() => engine.act(instance, 'a.done'), { code: 'INSTANCE_NOT_STARTED' });
      expectFailure(() => engine.step(instance, { kind: 'CONTINUE' }), { code: 'STALE' });
      expectFailure(() => engine.step(instance, { kind: 'APPEND', values: [] }), { code: 'STALE' });
    },
  );

  it('does nothing on hold until it is released', () => {
    const engine = engineOf(simple());
    const instance = engine.start('test');
    engine.step(instance, { kind: 'HOLD' });
    expect(instance.state.state).toBe('ONHOLD');
    const [token] = instance.state.tokens.values();
    expect(engine.open(instance, token!)).toEqual([]);
    expectFailure(() => engine.act(instance, 'u.done'), { code: 'INSTANCE_NOT_STARTED' });
    expectFailure(() => engine.step(instance, { kind: 'APPEND', values: [] }), {
      code: 'INSTANCE_NOT_STARTED',
    });
    expectFailure(() => engine.step(instance, { kind: 'HOLD' }), { code: 'INSTANCE_NOT_STARTED' });
    engine.step(instance, { kind: 'RELEASE' });
    engine.act(instance, 'u.done');
    expect(instance.state.state).toBe('FINISHED');
  });

  it('ends all tokens at a terminate end event and is finished', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .end('stop', { type: 'TERMINATE' })
        .flow('start -> fork -> a -> stop', 'fork -> b'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.done');
    expect(instance.state.state).toBe('FINISHED');
    expect([...instance.tokens.values()].map(({ state }) => state)).toEqual([
      'TERMINATED',
      'INACTIVE',
      'TERMINATED',
    ]);
  });

  it('reports to its parent how it ended', () => {
    const definition = new RuntimeDefinition(simple().build());
    const context = { now: 0, newToken: () => ({ id: 1, uuid: 'u' }), limits: LIMITS };
    const started = step(
      definition,
      newInstance({ id: 2, uuid: 'i', parentUuid: 'p' }),
      { kind: 'START', startNode: 0, data: { a: 1 } },
      context,
    );
    expect(started.jobs).toEqual([]);
    const done = step(
      definition,
      started.instance,
      { kind: 'UI_ACTION', tokenId: 1, uiActionSvcUuid: 'ui:u.done', body: {} },
      context,
    );
    expect(done.jobs).toEqual([{ kind: 'NOTIFY_PARENT', outcome: { state: 'FINISHED', data: { a: 1 } } }]);
    const ended = step(definition, started.instance, { kind: 'END', state: 'EXPIRED' }, context);
    expect(ended.jobs).toEqual([{ kind: 'NOTIFY_PARENT', outcome: { state: 'EXPIRED', errorCode: null } }]);
  });
});

describe('bounded work', () => {
  it('continues a long loop in the background', () => {
    const engine = engineOf(loop());
    const instance = engine.start('test', { n: 0, limit: 200 });
    expect(instance.state.pending).toHaveLength(1);
    expect(engine.jobs.map(({ job }) => job.kind)).toEqual(['CONTINUE']);
    engine.run();
    expect(instance.state).toMatchObject({ state: 'FINISHED', data: { n: 200 }, pending: [] });
    expect(trace(instance, 'TASK')).toHaveLength(200);
  });

  it('rejects actions on a moving token', () => {
    const graph = new TestGraph().start().user('u').xor('merge').flow('start -> u -> merge -> merge');
    const engine = engineOf(graph);
    const instance = engine.start('test');
    const [id] = instance.state.tokens.keys();
    engine.act(instance, 'u.done');
    expectFailure(() => engine.act(instance, 'u.done', {}, id), { code: 'ACTION_NOT_AVAILABLE' });
    engine.step(instance, { kind: 'CONTINUE' });
    expect(instance.state.pending).toHaveLength(1);
    engine.step(instance, { kind: 'RETRY', tokenId: id!, visit: 0, actionSvcUuid: null });
    expect(instance.state.pending).toHaveLength(1);
  });

  it('is delayed more and more in an endless loop, until an incident stops it', () => {
    const graph = new TestGraph().start().xor('merge').flow('start -> merge -> merge');
    const engine = engineOf(graph);
    engine.limits = { ...LIMITS, nodesPerStep: 5, continues: 20 };
    const instance = engine.start('test');
    engine.run();
    expect(instance.state.continues).toBe(3);
    expect(engine.jobs.map(({ job, at }) => [job.kind, at - engine.now])).toEqual([['CONTINUE', 100]]);
    engine.advance(60_000);
    expect(instance.state.continues).toBe(20);
    expect(engine.jobs).toEqual([]);
    const [token] = instance.state.tokens.values();
    expect(engine.incidents.map(({ error }) => error)).toMatchObject([
      { type: 'ENGINE', tokenId: token!.id },
    ]);
    engine.step(instance, { kind: 'RETRY', tokenId: token!.id, visit: token!.visit, actionSvcUuid: null });
    expect(instance.state.continues).toBe(1);
    expect(engine.jobs.map(({ job }) => job.kind)).toEqual(['CONTINUE']);
  });

  it('restarts the count once all tokens rest', () => {
    const engine = engineOf(
      new TestGraph().start().task('a').task('b').user('u').flow('start -> a -> b -> u'),
    );
    engine.limits = { ...LIMITS, nodesPerStep: 1 };
    const instance = engine.start('test');
    engine.step(instance, { kind: 'CONTINUE' });
    expect(instance.state.continues).toBe(2);
    engine.step(instance, { kind: 'CONTINUE' });
    expect(instance.state.continues).toBe(0);
  });

  it('is stale when no token is moving', () => {
    const engine = engineOf(simple());
    const instance = engine.start('test');
    expectFailure(() => engine.step(instance, { kind: 'CONTINUE' }), { code: 'STALE' });
  });
});

describe('limits', () => {
  it('refuse a body that makes the data too large, and make it an incident in the background', () => {
    const engine = engineOf(simple());
    engine.limits = { ...LIMITS, dataBytes: 100 };
    const text = 'x'.repeat(100);
    expectFailure(() => engine.start('test', { text }), { code: 'DATA_TOO_LARGE' });
    const instance = engine.start('test');
    expectFailure(() => engine.act(instance, 'u.done', { text }), { code: 'DATA_TOO_LARGE' });
    expectFailure(() => engine.step(instance, { kind: 'APPEND', values: [{ path: 'text', value: text }] }), {
      name: 'EngineIncident',
    });
  });

  it('turn too many live tokens into an incident', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .xor('merge')
        .and('fork')
        .user('a')
        .flow('start -> merge -> fork -> merge', 'fork -> a'),
    );
    engine.limits = { ...LIMITS, liveTokens: 20 };
    expectFailure(() => engine.start('test'), { source: 'NODE', type: 'ENGINE' });
  });
});

describe('appended values', () => {
  it('are set by path', () => {
    const engine = engineOf(simple());
    const instance = engine.start('test', { a: { b: 1 } });
    engine.step(instance, { kind: 'APPEND', values: [{ path: 'a.c', value: [1] }] });
    expect(instance.state.data).toEqual({ a: { b: 1, c: [1] } });
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });
});

/** Counts the nodes and flows that a start and a UI action read in a process with this many user tasks. */
const looksAt = (tasks: number) => {
  const graph = new TestGraph().start();
  const keys = Array.from({ length: tasks }, (_, index) => `u${index}`);
  keys.forEach((key) => graph.user(key));
  const built = graph.flow(`start -> ${keys.join(' -> ')}`).build();
  let reads = 0;
  const counted = <T extends object>(items: T[]) =>
    new Proxy(items, {
      get: (target, name, receiver) => {
        reads += 1;
        return Reflect.get(target, name, receiver) as unknown;
      },
    });
  const definition = new RuntimeDefinition({
    ...built,
    nodes: counted(built.nodes),
    flows: counted(built.flows),
  });
  const context = { now: 0, newToken: () => ({ id: 1, uuid: 't' }), limits: LIMITS };
  const empty = newInstance({ id: 1, uuid: 'i', parentUuid: null });
  reads = 0;
  const { instance } = step(definition, empty, { kind: 'START', startNode: 0, data: {} }, context);
  step(
    definition,
    instance,
    { kind: 'UI_ACTION', tokenId: 1, uiActionSvcUuid: 'ui:u0.done', body: {} },
    context,
  );
  return reads;
};

describe('a step', () => {
  it('does not modify the given state and shares unchanged parts', () => {
    const definition = new RuntimeDefinition(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .and('join')
        .user('c')
        .flow('start -> fork -> a -> join -> c', 'fork -> b -> join')
        .build(),
    );
    let last = 0;
    const context = {
      now: 0,
      newToken: () => ({ id: (last += 1), uuid: `t${last}` }),
      limits: LIMITS,
    };
    const data = { deep: { list: [1, 2, 3] } };
    let { instance } = step(
      definition,
      newInstance({ id: 1, uuid: 'i', parentUuid: null }),
      { kind: 'START', startNode: 0, data },
      context,
    );
    for (const [tokenId, key] of [
      [2, 'a'],
      [3, 'b'],
    ] as const) {
      const before = structuredClone(instance);
      const result = step(
        definition,
        instance,
        { kind: 'UI_ACTION', tokenId, uiActionSvcUuid: `ui:${key}.done`, body: { [key]: 1 } },
        context,
      );
      expect(instance).toEqual(before);
      expect(result.instance.data.deep).toBe(data.deep);
      instance = result.instance;
    }
  });

  it('reads no more of a large definition than of a small one', () => {
    expect(looksAt(5)).toBeGreaterThan(0);
    expect(looksAt(200)).toBe(looksAt(5));
  });
});
