import { describe, expect, it } from 'vitest';
import type { CallTarget } from '../../src/definitions/model/process-graph.types.js';
import { engineOf, expectFailure, save, TestGraph } from './graph-builder.js';
import { LIMITS, positions, type MemoryEngine, type MemoryInstance } from '../support/memory-engine.js';

function parent(target: Partial<CallTarget>): TestGraph {
  return new TestGraph().start().call('c', target).user('u').end().flow('start -> c -> u -> end');
}

function child(): TestGraph {
  return new TestGraph('child').start().user('t').end().flow('start -> t -> end');
}

/** Waits at `e`, in parallel to `t`, before an error end event E. */
function throwing(name: string): TestGraph {
  return new TestGraph(name)
    .start()
    .and('fork')
    .user('t')
    .user('e')
    .end('stop', { type: 'TERMINATE' })
    .end('broken', { type: 'ERROR', code: 'E' })
    .flow('start -> fork -> t -> stop', 'fork -> e -> broken');
}

function callJobs(engine: MemoryEngine): unknown[] {
  return engine.jobs.filter(({ job }) => job.kind === 'CALL');
}

const timed = () =>
  parent({})
    .boundary('time', 'c', { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT1S' } })
    .user('late')
    .flow('time -> late');

describe('call activity', () => {
  it('stores all data of a child without a result, and nothing without an output key', () => {
    for (const [outputKey, expected] of [
      ['out', { out: { b: 2 } }],
      [null, {}],
    ] as const) {
      const engine = engineOf(parent({ outputKey, copy: { mode: 'ONLY', keys: ['x'] } }), child());
      const instance = engine.start('test');
      engine.run();
      engine.act(engine.children(instance)[0]!, 't.done', { b: 2 });
      engine.run();
      expect(instance.state.data).toEqual(expected);
    }
  });

  it('continues immediately when it does not wait', () => {
    const engine = engineOf(parent({ waits: false }), child());
    const instance = engine.start('test');
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
    engine.act(instance, 'u.done');
    engine.run();
    expect(instance.state.state).toBe('FINISHED');
    expect(engine.children(instance).map(({ state }) => state.state)).toEqual(['STARTED']);
  });

  it('carries the start condition', () => {
    const engine = engineOf(parent({ startCondition: 'fast' }), child());
    engine.start('test');
    expect(engine.jobs[0]?.job).toMatchObject({
      kind: 'CALL',
      startCondition: 'fast',
      process: 'child',
      node: 1,
    });
  });

  it('is an incident of source SUBPROCESS when nothing catches the failure, and can be retried', () => {
    const engine = engineOf(parent({}), child());
    const instance = engine.start('test');
    engine.run();
    engine.step(engine.children(instance)[0]!, { kind: 'END', state: 'TERMINATED' });
    engine.run();
    expect(engine.incidents.map(({ error }) => error)).toMatchObject([
      { source: 'SUBPROCESS', type: 'SUBPROCESS', node: 1 },
    ]);
    const [token] = instance.state.tokens.values();
    engine.step(instance, { kind: 'RETRY', tokenId: token!.id, visit: token!.visit, actionSvcUuid: null });
    engine.run();
    engine.act(engine.children(instance)[1]!, 't.done');
    engine.run();
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('that does not wait can be retried after the token has moved on', () => {
    const engine = engineOf(parent({ waits: false, startCondition: null }), child());
    const instance = engine.start('test', { a: 1 });
    const { job } = engine.jobs[0]!;
    engine.jobs = [];
    const { tokenId, visit, node, index } = job as Extract<typeof job, { kind: 'CALL' }>;
    const retry = { kind: 'RETRY', tokenId, visit, actionSvcUuid: null } as const;
    expectFailure(() => engine.step(instance, retry), { code: 'NOTHING_TO_RETRY' });
    engine.step(instance, { ...retry, call: { node, index } });
    expect(engine.jobs[0]?.job).toMatchObject({ kind: 'CALL', tokenId, visit, node, index, waits: false });
  });

  it('ends its child when it is interrupted, also one that has not started', () => {
    const engine = engineOf(timed(), child());
    const instance = engine.start('test');
    engine.advance(1_000);
    expect(positions(instance)).toEqual(['late ACTIVE ARRIVED']);
    expect(engine.children(instance)[0]?.state.state).toBe('DISMISSED');
    expect(engine.incidents).toEqual([]);

    const other = engine.start('test');
    const [token] = other.state.tokens.values();
    const boundary = other.definition.graph.nodes.findIndex(({ key }) => key === 'time');
    engine.step(other, { kind: 'TIMER', tokenId: token!.id, visit: token!.visit, node: boundary });
    // The job that ends children runs first.
    engine.jobs.sort((a, b) => Number(b.job.kind === 'END_CHILDREN') - Number(a.job.kind === 'END_CHILDREN'));
    engine.jobs.forEach((job, position) => (job.id = position));
    engine.run();
    expect(engine.children(other)).toEqual([]);
  });

  it('ends its child with the instance', () => {
    const engine = engineOf(parent({}), child());
    const instance = engine.start('test');
    engine.run();
    engine.step(instance, { kind: 'END', state: 'EXPIRED' });
    engine.run();
    expect(engine.children(instance)[0]?.state.state).toBe('EXPIRED');
    expect(engine.incidents).toEqual([]);
  });

  it('refuses results of children that are not awaited', () => {
    const engine = engineOf(parent({}), child());
    const instance = engine.start('test');
    const [token] = instance.state.tokens.values();
    const answer = {
      kind: 'CHILD_ENDED',
      tokenId: token!.id,
      visit: token!.visit,
      index: 0,
      outcome: { state: 'FINISHED', data: {} },
    } as const;
    expectFailure(() => engine.step(instance, { ...answer, visit: 1 }), { code: 'STALE' });
    expectFailure(() => engine.step(instance, { ...answer, index: 1 }), { code: 'STALE' });
    engine.step(instance, answer);
    expectFailure(() => engine.step(instance, answer), { code: 'STALE' });
  });
});

const many = (sequential: boolean, extra: Partial<CallTarget> = {}) =>
  parent({ outputKey: 'out', multiInstance: { collection: 'list', sequential }, ...extra });

const finish = (engine: MemoryEngine, called: MemoryInstance) => {
  engine.act(called, 't.done', { result: `r${String(called.state.data.item)}` });
  engine.run();
};

describe('multi-instance', () => {
  it('runs in parallel, each child with its element, and keeps the order of the collection', () => {
    const engine = engineOf(many(false), child());
    const instance = engine.start('test', { list: ['a', 'b', 'c'] });
    engine.run();
    const children = engine.children(instance);
    expect(children.map(({ state }) => state.data.item)).toEqual(['a', 'b', 'c']);
    finish(engine, children[2]!);
    finish(engine, children[0]!);
    expect(positions(instance)).toEqual(['c ACTIVE EXECUTING']);
    finish(engine, children[1]!);
    expect(instance.state.data.out).toEqual(['ra', 'rb', 'rc']);
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('runs one after the other', () => {
    const engine = engineOf(many(true), child());
    const instance = engine.start('test', { list: [1, 2] });
    engine.run();
    expect(engine.children(instance)).toHaveLength(1);
    finish(engine, engine.children(instance)[0]!);
    expect(engine.children(instance)).toHaveLength(2);
    finish(engine, engine.children(instance)[1]!);
    expect(instance.state.data.out).toEqual(['r1', 'r2']);
  });

  it('starts nothing for an empty collection and moves on', () => {
    const engine = engineOf(many(false), child());
    const instance = engine.start('test', { list: [] });
    engine.run();
    expect(engine.children(instance)).toEqual([]);
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
    expect(instance.state.data.out).toEqual([]);
  });

  it('is an incident when the collection is no list or too long', () => {
    const engine = engineOf(many(false), child());
    expectFailure(() => engine.start('test', { list: 'abc' }), { source: 'NODE', node: 1 });
    expectFailure(() => engine.start('test', {}), { type: 'CONDITION_EVALUATION', node: 1 });
    expectFailure(() => engine.start('test', { list: Array.from({ length: 101 }, () => 0) }), {
      source: 'NODE',
      node: 1,
    });
  });

  it('ends the others when one fails and the error is caught', () => {
    const engine = engineOf(
      many(false).boundary('caught', 'c', { type: 'ERROR', code: null }).user('fix').flow('caught -> fix'),
      throwing('child'),
    );
    const instance = engine.start('test', { list: [1, 2, 3] });
    engine.run();
    const [first, second, third] = engine.children(instance);
    finish(engine, first!);
    engine.act(second!, 'e.done');
    engine.run();
    expect(third?.state.state).toBe('DISMISSED');
    expect(positions(instance)).toEqual(['fix ACTIVE ARRIVED']);
  });

  it('retries only the failed child', () => {
    const engine = engineOf(many(false), child());
    const instance = engine.start('test', { list: [1, 2] });
    engine.run();
    engine.step(engine.children(instance)[1]!, { kind: 'END', state: 'TERMINATED' });
    engine.run();
    const [token] = instance.state.tokens.values();
    const place = { tokenId: token!.id, visit: token!.visit, actionSvcUuid: null };
    expectFailure(() => engine.step(instance, { kind: 'RETRY', ...place }), { code: 'NOTHING_TO_RETRY' });
    engine.step(instance, { kind: 'RETRY', ...place, call: { node: 1, index: 1 } });
    expect(callJobs(engine)).toHaveLength(1);
    engine.run();
    finish(engine, engine.children(instance)[0]!);
    finish(engine, engine.children(instance)[2]!);
    expect(instance.state.data.out).toEqual(['r1', 'r2']);
  });

  it('starts only as many children at once as the data limit allows', () => {
    const engine = engineOf(many(false), child());
    engine.limits = { ...LIMITS, dataBytes: 1_000 };
    const instance = engine.start('test', {
      list: Array.from({ length: 20 }, (_, index) => index),
      text: 'x'.repeat(700),
    });
    expect(callJobs(engine)).toHaveLength(10);
    engine.run();
    engine.step(engine.children(instance)[4]!, { kind: 'END', state: 'TERMINATED' });
    expect(engine.children(instance)).toHaveLength(10);
    finish(engine, engine.children(instance)[0]!);
    expect(engine.children(instance)).toHaveLength(11);
  });

  it('counts results of children towards the data limit', () => {
    const engine = engineOf(
      many(false, { copy: { mode: 'ONLY', keys: ['list'] } }),
      new TestGraph('child')
        .start()
        .task('t', [save('s', { result: '${big}' })])
        .user('stay')
        .end()
        .flow('start -> t -> end'),
    );
    const instance = engine.start('test', { list: [1, 2] });
    const [token] = instance.state.tokens.values();
    const answer = (index: number, size: number) =>
      ({
        kind: 'CHILD_ENDED',
        tokenId: token!.id,
        visit: token!.visit,
        index,
        outcome: { state: 'FINISHED', data: { result: 'x'.repeat(size) } },
      }) as const;
    engine.step(instance, answer(0, 600_000));
    expectFailure(() => engine.step(instance, answer(1, 600_000)), { type: 'ENGINE', tokenId: token!.id });
    engine.step(instance, answer(1, 400_000));
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });
});

/** Calls `called`; another token waits at the task `bystander`. */
function middle(name: string, called: string, target: Partial<CallTarget> = {}): TestGraph {
  return new TestGraph(name)
    .start()
    .and('fork')
    .user('bystander')
    .call('c', { process: called, ...target })
    .end()
    .flow('start -> fork -> c -> end', 'fork -> bystander -> end');
}

function states(engine: MemoryEngine): Record<string, string> {
  return Object.fromEntries(
    [...engine.instances.values()].map(({ definition, state }) => [definition.graph.name, state.state]),
  );
}

function instanceOf(engine: MemoryEngine, name: string): MemoryInstance {
  return [...engine.instances.values()].find(({ definition }) => definition.graph.name === name)!;
}

describe('an error that nothing catches in a called process', () => {
  const thrown = (top: TestGraph, ...others: TestGraph[]) => {
    const engine = engineOf(top, ...others, throwing('bottom'));
    engine.start('top');
    engine.run();
    engine.act(instanceOf(engine, 'bottom'), 'e.done');
    engine.run();
    expect(engine.incidents).toEqual([]);
    expect(engine.jobs).toEqual([]);
    return engine;
  };

  it.each(['E', null])('is caught at the first level that catches %s', (code) => {
    const top = middle('top', 'two')
      .boundary('caught', 'c', { type: 'ERROR', code })
      .user('fix')
      .flow('caught -> fix');
    const engine = thrown(top, middle('two', 'bottom'));
    expect(states(engine)).toEqual({ top: 'STARTED', two: 'FAILED', bottom: 'FAILED' });
    expect(positions(instanceOf(engine, 'top'))).toContain('fix ACTIVE ARRIVED');
  });

  it('is caught by a boundary event of an embedded subprocess around the call', () => {
    const top = new TestGraph('top')
      .start()
      .sub('s')
      .start('inner', { in: 's' })
      .call('c', { process: 'two' }, { in: 's' })
      .end('innerEnd', { type: 'NONE' }, { in: 's' })
      .boundary('other', 'c', { type: 'ERROR', code: 'F' })
      .user('not', undefined, { in: 's' })
      .boundary('caught', 's', { type: 'ERROR', code: 'E' })
      .user('fix')
      .flow('start -> s', 'inner -> c -> innerEnd', 'other -> not', 'caught -> fix');
    const engine = thrown(top, middle('two', 'bottom'));
    expect(positions(instanceOf(engine, 'top'))).toEqual(['fix ACTIVE ARRIVED']);
  });

  it('ends the other processes that the caller has called', () => {
    const top = middle('top', 'two', { multiInstance: { collection: '[1, 2, 3]', sequential: false } });
    const engine = engineOf(top, middle('two', 'bottom'), throwing('bottom'));
    const instance = engine.start('top');
    engine.run();
    const bottoms = [...engine.instances.values()].filter(
      ({ definition }) => definition.graph.name === 'bottom',
    );
    expect(bottoms).toHaveLength(3);
    engine.act(bottoms[1]!, 'e.done');
    engine.run();
    expect(instance.state.state).toBe('FAILED');
    expect(engine.children(instance).map(({ state }) => state.state)).toEqual([
      'TERMINATED',
      'FAILED',
      'TERMINATED',
    ]);
    expect(bottoms.map(({ state }) => state.state)).toEqual(['TERMINATED', 'FAILED', 'TERMINATED']);
    expect(engine.incidents).toEqual([]);
  });

  it('ends a sequential activity at its first child', () => {
    const top = middle('top', 'bottom', { multiInstance: { collection: '[1, 2]', sequential: true } });
    const engine = thrown(top);
    expect(engine.children(instanceOf(engine, 'top'))).toHaveLength(1);
    expect(states(engine)).toEqual({ top: 'FAILED', bottom: 'FAILED' });
  });

  it('does not notify a caller that does not wait', () => {
    const engine = thrown(middle('top', 'bottom', { waits: false }));
    expect(states(engine)).toEqual({ top: 'STARTED', bottom: 'FAILED' });
  });

  it('comes too late for a caller that has ended and has notified its own caller', () => {
    const engine = engineOf(middle('top', 'two'), middle('two', 'bottom'), throwing('bottom'));
    engine.start('top');
    engine.run();
    engine.step(instanceOf(engine, 'two'), { kind: 'END', state: 'EXPIRED' });
    engine.act(instanceOf(engine, 'bottom'), 'e.done');
    engine.run();
    expect(states(engine)).toEqual({ top: 'STARTED', two: 'EXPIRED', bottom: 'FAILED' });
    expect(engine.incidents.map(({ error }) => error.message)).toEqual([
      'CHILD_EXPIRED: Child 0 of the call activity is EXPIRED.',
    ]);
  });
});

describe('an end of a called process that is no BPMN error', () => {
  const ended = (code: string | null, state: 'TERMINATED' | 'EXPIRED' | 'DISMISSED' | 'ABORTED') => {
    const top = parent({}).boundary('caught', 'c', { type: 'ERROR', code }).user('fix').flow('caught -> fix');
    const engine = engineOf(top, child());
    const instance = engine.start('test');
    engine.run();
    engine.step(engine.children(instance)[0]!, { kind: 'END', state });
    engine.run();
    return { engine, positions: positions(instance), state: instance.state.state };
  };

  it.each(['TERMINATED', 'EXPIRED', 'DISMISSED', 'ABORTED'] as const)(
    '(%s) is caught by its name, and otherwise raises an incident at the call',
    (state) => {
      expect(ended(`CHILD_${state}`, state).positions).toEqual(['fix ACTIVE ARRIVED']);
      const stopped = ended(null, state);
      expect(stopped.positions).toEqual(['c ACTIVE EXECUTING']);
      expect(stopped.state).toBe('STARTED');
      expect(stopped.engine.incidents.map(({ error }) => error)).toMatchObject([
        { source: 'SUBPROCESS', type: 'SUBPROCESS', node: 1 },
      ]);
    },
  );

  it.each([
    ['CHILD_NOT_STARTED', 'fix ACTIVE ARRIVED'],
    [null, 'c ACTIVE EXECUTING'],
  ])('nor is a call that cannot be made, caught by %s', (code, expected) => {
    const top = parent({}).boundary('caught', 'c', { type: 'ERROR', code }).user('fix').flow('caught -> fix');
    const engine = engineOf(top, child());
    const instance = engine.start('test');
    const [token] = instance.state.tokens.values();
    const failed = {
      kind: 'CALL_FAILED',
      tokenId: token!.id,
      visit: token!.visit,
      index: 0,
      type: 'DEFINITION',
      message: 'There is none.',
    } as const;
    if (code === null) {
      expectFailure(() => engine.step(instance, failed), {
        source: 'SUBPROCESS',
        type: 'DEFINITION',
        message: 'CHILD_NOT_STARTED: There is none.',
      });
    } else {
      engine.step(instance, failed);
      expectFailure(() => engine.step(instance, failed), { code: 'STALE' });
    }
    expect(positions(instance)).toEqual([expected]);
  });
});
