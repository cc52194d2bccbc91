import { describe, expect, it } from 'vitest';
import type { GraphAction } from '../../src/definitions/model/process-graph.types.js';
import { engineOf, expectFailure, automatic, manual, save, TestGraph, workflow } from './graph-builder.js';
import { positions, type MemoryInstance } from '../support/memory-engine.js';

const SECOND = 1_000;

/** start -> t -> u -> end, where t has the actions. */
function taskWith(...actions: GraphAction[]): TestGraph {
  return new TestGraph().start().user('t', actions).user('u').end().flow('start -> t -> u -> end');
}

function executed(instance: MemoryInstance): unknown[] {
  return instance.events.filter(({ kind }) => kind === 'ACTION_EXECUTED').map(({ data }) => data?.name);
}

function actionsAt(instance: MemoryInstance): Record<string, unknown> {
  const [token] = instance.state.tokens.values();
  return Object.fromEntries(Object.entries(token?.actions ?? {}).map(([key, { state }]) => [key, state]));
}

describe('automatic actions', () => {
  it('run on arrival, in their order', () => {
    const instance = engineOf(
      taskWith(save('second', { x: '${x + 1}' }, { order: 2 }), save('first', { x: 1 }, { order: 1 })),
    ).start('test');
    expect(executed(instance)).toEqual(['first', 'second']);
    expect(instance.state.data).toEqual({ x: 2 });
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('store only what their keys name', () => {
    const instance = engineOf(taskWith(save('s', { a: { b: 1, c: 2 }, d: 3 }, { keys: ['a.b'] }))).start(
      'test',
    );
    expect(instance.state.data).toEqual({ a: { b: 1 } });
  });

  it('report references to missing data and store null', () => {
    const instance = engineOf(taskWith(save('s', { a: '${client.name}', b: '[${client.name}]' }))).start(
      'test',
    );
    expect(instance.state.data).toEqual({ a: null, b: '[]' });
    expect(instance.warnings).toEqual([expect.stringContaining('client.name')]);
  });

  it('can read the ids of the instance and its parent', () => {
    const instance = engineOf(
      taskWith(save('s', { id: '${processInstanceId}', parent: '${parentProcessInstanceId}' })),
    ).start('test', { processInstanceId: 'forged', parentProcessInstanceId: 'forged' });
    expect(instance.state.data).toMatchObject({ id: instance.state.uuid, parent: null });
  });

  it('wait for their delay, and so do the following ones', () => {
    const engine = engineOf(
      taskWith(save('late', { a: 1 }, { order: 1, delay: 'PT10S' }), save('next', { b: 1 }, { order: 2 })),
    );
    const instance = engine.start('test');
    expect(positions(instance)).toEqual(['t ACTIVE EXECUTING']);
    expect(actionsAt(instance)).toEqual({ 't.late': 'PENDING' });
    engine.advance(9 * SECOND);
    expect(instance.state.data).toEqual({});
    engine.advance(SECOND);
    expect(executed(instance)).toEqual(['late', 'next']);
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('behave the same directly after the start, on a task', () => {
    const instance = engineOf(
      new TestGraph()
        .start()
        .task('t', [save('s', { a: 1 })])
        .end()
        .flow('start -> t -> end'),
    ).start('test');
    expect(instance.state).toMatchObject({ state: 'FINISHED', data: { a: 1 } });
  });
});

describe('workflows', () => {
  it('of an optional manual action are waited for once they have been started', () => {
    const engine = engineOf(
      taskWith(manual('done'), workflow('w', { manual: true, optional: true }, 'score')),
    );
    engine.workflows.set('w', () => ({ output: 7 }));
    const instance = engine.start('test');
    engine.act(instance, 't.w');
    engine.act(instance, 't.done');
    expect(positions(instance)).toEqual(['t ACTIVE EXECUTING']);
    engine.run();
    expect(instance.state.data).toEqual({ score: 7 });
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('are an incident when they fail, and run again on a retry', () => {
    const engine = engineOf(taskWith(workflow('w')));
    let fails = true;
    engine.workflows.set('w', () => (fails ? { errorCode: null } : { output: 1 }));
    const instance = engine.start('test');
    engine.run();
    const [incident] = engine.incidents;
    expect(incident?.error).toMatchObject({
      source: 'ACTION',
      type: 'WORKFLOW',
      actionSvcUuid: 't.w',
      node: 1,
    });
    expect(positions(instance)).toEqual(['t ACTIVE EXECUTING']);
    fails = false;
    const { tokenId } = incident!.error;
    engine.step(instance, { kind: 'RETRY', tokenId: tokenId ?? 0, visit: 2, actionSvcUuid: 't.w' });
    engine.run();
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });
});

describe('other operations', () => {
  it('start a process without waiting, with the data that the copy rule names', () => {
    const child = new TestGraph('child').start().user('c').end().flow('start -> c -> end');
    const engine = engineOf(
      taskWith(
        automatic('s', {
          kind: 'START_SUBPROCESS',
          process: 'child',
          appId: null,
          startCondition: null,
          copy: { mode: 'EXCEPT', keys: ['secret'] },
        }),
      ),
      child,
    );
    const instance = engine.start('test', { a: 1, secret: 2 });
    engine.run();
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
    expect(engine.children(instance).map(({ state }) => state.data)).toEqual([{ a: 1 }]);
    // Its end does not affect the parent.
    engine.act(engine.children(instance)[0]!, 'c.done');
    engine.run();
    expect(engine.incidents).toEqual([]);
  });

  it('append values to the parent, if there is one', () => {
    const child = new TestGraph('child')
      .start()
      .task('t', [automatic('append', { kind: 'APPEND_TO_PARENT', paths: { x: 'from.child', gone: 'y' } })])
      .end()
      .flow('start -> t -> end');
    const parent = new TestGraph().start().call('c').user('u').end().flow('start -> c -> u -> end');
    const engine = engineOf(parent, child);
    const instance = engine.start('test', { x: 5 });
    engine.run();
    expect(instance.state.data).toEqual({ x: 5, from: { child: 5 } });
    const alone = engine.start('child', { x: 1 });
    expect(alone.warnings).toEqual([expect.stringContaining('none')]);
  });

  it('publish a message with its correlation as text', () => {
    const engine = engineOf(
      taskWith(
        automatic('s', {
          kind: 'SEND_MESSAGE',
          message: 'm',
          correlation: 'id + 1',
          payload: { v: '${id}' },
        }),
      ),
    );
    engine.start('test', { id: 41 });
    expect(engine.jobs.map(({ job }) => job)).toEqual([
      { kind: 'PUBLISH_MESSAGE', message: 'm', correlation: '42', payload: { v: 41 } },
    ]);
  });
});

describe('manual actions', () => {
  it('keep the token while a mandatory one is left', () => {
    const engine = engineOf(
      taskWith(manual('a'), manual('b', { order: 1 }), manual('c', { optional: true, order: 2 })),
    );
    const instance = engine.start('test');
    const { action } = engine.act(instance, 't.a');
    expect(action).toMatchObject({ node: 1, back: false });
    expect(positions(instance)).toEqual(['t ACTIVE EXECUTED_PARTIAL']);
    expect(engine.act(instance, 't.b').action).toMatchObject({ node: 2 });
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('do not keep it when all are optional', () => {
    expect(positions(engineOf(taskWith(manual('a', { optional: true }))).start('test'))).toEqual([
      'u ACTIVE ARRIVED',
    ]);
  });

  it('merge the body with the default body, without excluded keys, within the whitelist', () => {
    const graph = taskWith(manual('a', { keys: ['client', 'n'] })).build();
    Object.assign(graph.nodes[1]!.uiActions[0]!, {
      body: { client: { kind: 'new', name: 'default' }, n: 1 },
      excludeKeys: ['client.secret'],
    });
    const engine = engineOf(taskWith(manual('a', { keys: ['client', 'n'] })));
    engine.define(graph);
    const instance = engine.start('test', { client: { age: 3 }, list: [1] });
    engine.act(instance, 't.a', { client: { name: 'Ann', secret: 1 }, admin: true });
    expect(instance.state.data).toEqual({ client: { age: 3, kind: 'new', name: 'Ann' }, n: 1, list: [1] });
  });

  it('store nothing with an empty whitelist', () => {
    const engine = engineOf(taskWith(manual('a', { keys: [] })));
    const instance = engine.start('test', { a: 1 });
    engine.act(instance, 't.a', { a: 2, b: 3 });
    expect(instance.state.data).toEqual({ a: 1 });
  });

  it('are executed once unless they are repeatable', () => {
    const engine = engineOf(
      taskWith(manual('a'), manual('b', { repeatable: true, optional: true }), manual('c')),
    );
    const instance = engine.start('test');
    const [id] = instance.state.tokens.keys();
    engine.act(instance, 't.a');
    expectFailure(() => engine.act(instance, 't.a', {}, id), { code: 'ACTION_ALREADY_DONE' });
    engine.act(instance, 't.b');
    engine.act(instance, 't.b');
    expect(instance.state.tokens.get(id ?? 0)?.actions['t.b']).toMatchObject({ runs: 2, state: 'COMPLETED' });
  });

  it('are refused on another node or token, or if unknown', () => {
    const engine = engineOf(taskWith(manual('a')));
    const instance = engine.start('test');
    const [id] = instance.state.tokens.keys();
    expectFailure(() => engine.act(instance, 'u.done', {}, id), { code: 'ACTION_NOT_AVAILABLE' });
    expectFailure(() => engine.act(instance, 't.nope', {}, id), { code: 'ACTION_UNKNOWN' });
    expectFailure(() => engine.act(instance, 't.a', {}, 999), { code: 'TOKEN_NOT_ACTIVE' });
    engine.act(instance, 't.a');
    expectFailure(() => engine.act(instance, 't.a', {}, id), { code: 'ACTION_NOT_AVAILABLE' });
  });

  it('start again with each visit', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .xor('merge')
        .user('t', [manual('a')])
        .xor('again')
        .end()
        .flow('start -> merge -> t -> again', 'again -> merge ? again', 'again -> end default'),
    );
    const instance = engine.start('test', { again: true });
    engine.act(instance, 't.a');
    engine.act(instance, 't.a', { again: false });
    expect(instance.state.state).toBe('FINISHED');
  });
});

const parent = (options: Partial<GraphAction> = {}) => manual('p', { autoRunChildren: true, ...options });

describe('child actions', () => {
  it('run right after their parent, in their order', () => {
    const engine = engineOf(
      taskWith(
        parent(),
        save('c2', { x: '${x}2' }, { parent: 'p', order: 2 }),
        save('c1', { x: '${x}1' }, { parent: 'p', order: 1 }),
      ),
    );
    const instance = engine.start('test', { x: '' });
    expect(executed(instance)).toEqual([]);
    engine.act(instance, 't.p');
    expect(executed(instance)).toEqual(['p', 'c1', 'c2']);
    expect(instance.state.data).toEqual({ x: '12' });
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('keep the token until they are done', () => {
    const engine = engineOf(taskWith(parent(), workflow('c', { parent: 'p' })));
    const instance = engine.start('test');
    engine.act(instance, 't.p');
    expect(positions(instance)).toEqual(['t ACTIVE EXECUTING']);
    engine.run();
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('run again with a repeatable parent', () => {
    const engine = engineOf(
      taskWith(
        manual('done'),
        parent({ repeatable: true, optional: true }),
        save('c', { n: '${n + 1}' }, { parent: 'p' }),
      ),
    );
    const instance = engine.start('test', { n: 0 });
    engine.act(instance, 't.p');
    engine.act(instance, 't.p');
    expect(instance.state.data).toEqual({ n: 2 });
  });

  it('of an automatic parent also run, before the actions that follow it', () => {
    const instance = engineOf(
      taskWith(
        save('next', {}, { order: 2 }),
        save('p', {}, { order: 1, autoRunChildren: true }),
        save('c', {}, { parent: 'p', order: 9 }),
      ),
    ).start('test');
    expect(executed(instance)).toEqual(['p', 'c', 'next']);
  });

  it('do not run without autoRunChildren, and the token does not wait for them', () => {
    const engine = engineOf(taskWith(manual('p'), save('c', { c: 1 }, { parent: 'p' })));
    const instance = engine.start('test');
    engine.act(instance, 't.p');
    expect(instance.state.data).toEqual({});
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('that are manual open with their parent', () => {
    const engine = engineOf(taskWith(manual('p'), manual('c', { parent: 'p' })));
    const instance = engine.start('test');
    const [token] = instance.state.tokens.values();
    expect(engine.open(instance, token!)).toEqual([{ svcUuid: 'ui:t.p', name: 'p', back: false }]);
    expectFailure(() => engine.act(instance, 't.c', {}, token?.id), { code: 'ACTION_NOT_AVAILABLE' });
    engine.act(instance, 't.p');
    expect(positions(instance)).toEqual(['t ACTIVE EXECUTED_PARTIAL']);
    engine.act(instance, 't.c');
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });
});
