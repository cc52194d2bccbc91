import { describe, expect, it } from 'vitest';
import type { CallTarget } from '../../../src/modules/process-definitions/process-graph.types.js';
import { engineOf, expectFailure } from '../../support/runtime/checked-engine.js';
import { save, TestGraph } from '../../support/runtime/graph-builder.js';
import {
  LIMITS,
  positions,
  type MemoryEngine,
  type MemoryInstance,
} from '../../support/runtime/memory-engine.js';

function parent(target: Partial<CallTarget>): TestGraph {
  return new TestGraph().start().call('c', target).user('u').end().flow('start -> c -> u -> end');
}

function child(): TestGraph {
  return new TestGraph('child').start().user('t').end().flow('start -> t -> end');
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
  it('waits for its process and stores the result', () => {
    const engine = engineOf(parent({ outputKey: 'out.child' }), child());
    const instance = engine.start('test', { a: 1 });
    engine.run();
    expect(positions(instance)).toEqual(['c ACTIVE EXECUTING']);
    const [called] = engine.children(instance);
    expect(called?.state.data).toEqual({ a: 1 });
    engine.act(called!, 't.done', { result: { ok: true }, other: 1 });
    engine.run();
    expect(instance.state.data).toEqual({ a: 1, out: { child: { ok: true } } });
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('takes all data of the child where it has no result, and nothing without an output key', () => {
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

  it('goes on at once when it does not wait', () => {
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

  it('is taken by an error boundary event with the code that the child ended with', () => {
    const engine = engineOf(
      parent({}).boundary('caught', 'c', { type: 'ERROR', code: 'E' }).user('fix').flow('caught -> fix'),
      new TestGraph('child').start().end('broken', { type: 'ERROR', code: 'E' }).flow('start -> broken'),
    );
    const instance = engine.start('test');
    engine.run();
    expect(engine.children(instance)[0]?.state.state).toBe('FAILED');
    expect(positions(instance)).toEqual(['fix ACTIVE ARRIVED']);
  });

  it('is an incident of source SUBPROCESS when nobody takes that, and can be retried', () => {
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

  it('that does not wait can be retried when the token has gone on', () => {
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

  it('refuses answers that nobody waits for', () => {
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
      child(),
    );
    const instance = engine.start('test', { list: [1, 2, 3] });
    engine.run();
    const [first, second, third] = engine.children(instance);
    finish(engine, first!);
    engine.step(second!, { kind: 'END', state: 'FAILED' });
    engine.run();
    expect(third?.state.state).toBe('DISMISSED');
    expect(positions(instance)).toEqual(['fix ACTIVE ARRIVED']);
  });

  it('retries the one that failed and no other', () => {
    const engine = engineOf(many(false), child());
    const instance = engine.start('test', { list: [1, 2] });
    engine.run();
    engine.step(engine.children(instance)[1]!, { kind: 'END', state: 'FAILED' });
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

  it('copies data for no more children at once than the limit of data allows', () => {
    const engine = engineOf(many(false), child());
    engine.limits = { ...LIMITS, dataBytes: 1_000 };
    const instance = engine.start('test', {
      list: Array.from({ length: 20 }, (_, index) => index),
      text: 'x'.repeat(700),
    });
    expect(callJobs(engine)).toHaveLength(10);
    engine.run();
    engine.step(engine.children(instance)[4]!, { kind: 'END', state: 'FAILED' });
    expect(engine.children(instance)).toHaveLength(10);
    finish(engine, engine.children(instance)[0]!);
    expect(engine.children(instance)).toHaveLength(11);
  });

  it('counts what children answer towards the limit of data', () => {
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
