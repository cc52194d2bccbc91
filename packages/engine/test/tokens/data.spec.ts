import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json.js';
import { engineOf, expectFailure, manual, save, TestGraph, workflow } from './graph-builder.js';
import { LIMITS, positions } from '../support/memory-engine.js';

const forged = JSON.parse('{"a": {"__proto__": {"admin": true}}}') as JsonObject;

function nested(levels: number): JsonObject {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

describe('background jobs of one step', () => {
  const sending = (count: number) => {
    const actions = Array.from({ length: count }, (_, index) =>
      workflow(`w${index}`, { manual: false, parent: null }),
    );
    const graph = new TestGraph().start().and('fork').flow('start -> fork');
    actions.forEach((action, index) => graph.task(`t${index}`, [action]).flow(`fork -> t${index}`));
    return engineOf(graph);
  };

  it('carry at most a multiple of the data limit in total', () => {
    const limits = { ...LIMITS, dataBytes: 1_000 };
    const data = { a: 'x'.repeat(900) };
    const [few, many] = [sending(10), sending(20)];
    few.limits = limits;
    many.limits = limits;
    few.start('test', data);
    expect(few.jobs).toHaveLength(10);
    expectFailure(() => many.start('test', data), { name: 'EngineIncident', type: 'ENGINE' });
  });

  it('leave a long correlation to the job and its hash to the audit trail', () => {
    const correlation = 'c'.repeat(1_000);
    const event = { type: 'MESSAGE' as const, message: 'm', correlation: 'key' };
    const engine = engineOf(new TestGraph().start().end('end', event).flow('start -> end'));
    const instance = engine.start('test', { key: correlation });
    expect(engine.jobs.map(({ job }) => job)).toMatchObject([{ kind: 'PUBLISH_MESSAGE', correlation }]);
    const published = instance.events.find(({ kind }) => kind === 'MESSAGE_PUBLISHED');
    expect(published?.data?.correlation).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

describe('the ids of an instance', () => {
  const forged = { processInstanceId: 'forged', parentProcessInstanceId: 'forged' };
  const known =
    'processInstanceId != "forged" && input.processInstanceId.startsWith("instance") && parentProcessInstanceId == null';

  it('are available in conditions, even if the data has the same names', () => {
    const graph = new TestGraph().start().xor('x').user('yes').user('no');
    graph.flow('start -> x', `x -> yes ? ${known}`, 'x -> no default');
    expect(positions(engineOf(graph).start('test', forged))).toEqual(['yes ACTIVE ARRIVED']);
  });

  it('are known in correlations, collections and conditions of error events', () => {
    const event = { type: 'MESSAGE' as const, message: 'm', correlation: 'processInstanceId' };
    const collection = '[processInstanceId, parentProcessInstanceId]';
    const parent = new TestGraph().start().event('wait', event).user('u');
    parent.call('c', { multiInstance: { collection, sequential: false } });
    parent.boundary('b', 'c', { type: 'ERROR', code: null }, { condition: known });
    const child = new TestGraph('child').start().end('broken', { type: 'ERROR', code: 'E' });
    const engine = engineOf(parent.flow('start -> wait -> c', 'b -> u'), child.flow('start -> broken'));
    const instance = engine.start('test', forged);
    const { uuid } = instance.state;
    expect(engine.waits).toMatchObject([{ correlation: uuid }]);
    engine.publish('m', {}, uuid);
    engine.run();
    expect(engine.children(instance).map(({ state }) => state.data['item'])).toEqual([uuid, null]);
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });
});

describe('data that may not become process data', () => {
  it('is refused when the caller of a UI action sent it', () => {
    const engine = engineOf(new TestGraph().start().user('t').user('u').flow('start -> t -> u'));
    const instance = engine.start('test');
    expectFailure(() => engine.act(instance, 't.done', forged), { code: 'DATA_INVALID' });
    expectFailure(() => engine.act(instance, 't.done', nested(70)), { code: 'DATA_INVALID' });
    expect(positions(instance)).toEqual(['t ACTIVE ARRIVED']);
  });

  it('is an incident when a template of the definition makes it', () => {
    const template = { b: { c: '${a}' } };
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('t', [manual('go')])
        .task('s', [save('wrap', template)])
        .end()
        .flow('start -> t -> s -> end'),
    );
    const instance = engine.start('test', nested(64));
    expectFailure(() => engine.act(instance, 't.go'), { name: 'EngineIncident', type: 'NODE' });
    expect(positions(instance)).toEqual(['t ACTIVE ARRIVED']);
  });

  it('is an incident when a message brought it', () => {
    const event = { type: 'MESSAGE' as const, message: 'm', correlation: null };
    const engine = engineOf(
      new TestGraph().start().event('wait', event).user('u').flow('start -> wait -> u'),
    );
    const instance = engine.start('test');
    const { tokenId, visit, node } = engine.waits[0]!;
    const command = { kind: 'MESSAGE' as const, tokenId, visit, node, payload: forged };
    expectFailure(() => engine.step(instance, command), { name: 'EngineIncident', tokenId });
    expect(positions(instance)).toEqual(['wait ACTIVE WAITING_MESSAGE_EVENT']);
  });
});
