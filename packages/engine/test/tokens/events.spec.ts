import { describe, expect, it } from 'vitest';
import { parseCycle } from '../../src/support/iso-8601.js';
import type { EventDefinition } from '../../src/definitions/model/process-graph.types.js';
import { cycleOccurrence } from '../../src/tokens/state/due-times.js';
import { engineOf, expectFailure, manual, save, TestGraph, workflow } from './graph-builder.js';
import {
  LIMITS,
  positions,
  trace,
  type MemoryInstance,
  type WorkflowAnswer,
} from '../support/memory-engine.js';

const SECOND = 1_000;

function timer(expression: string, type: 'DATE' | 'DURATION' = 'DURATION'): EventDefinition {
  return { type: 'TIMER', timer: { type, expression } };
}

function message(name: string, correlation: string | null = null): EventDefinition {
  return { type: 'MESSAGE', message: name, correlation };
}

function leftWith(instance: MemoryInstance, key: string): unknown {
  const { nodes } = instance.definition.graph;
  return instance.events.find(({ kind, node }) => kind === 'NODE_LEFT' && nodes[node ?? -1]?.key === key)
    ?.data;
}

const waiting = (event: EventDefinition) =>
  new TestGraph().start().event('wait', event).user('u').flow('start -> wait -> u');

describe('timer events', () => {
  it('wait for a duration, which may come from the data', () => {
    const engine = engineOf(waiting(timer('PT${seconds}S')));
    const instance = engine.start('test', { seconds: 5 });
    expect(positions(instance)).toEqual(['wait ACTIVE WAITING_TIMER_EVENT']);
    engine.advance(5 * SECOND - 1);
    expect(positions(instance)).toEqual(['wait ACTIVE WAITING_TIMER_EVENT']);
    engine.advance(1);
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
    expect(engine.jobs).toEqual([]);
  });

  it('wait for a date, but not for one in the past', () => {
    const engine = engineOf(waiting(timer('${at}', 'DATE')));
    const instance = engine.start('test', { at: '2026-01-01T01:00:05+01:00' });
    engine.advance(5 * SECOND);
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
    const late = engine.start('test', { at: '0900-01-01T00:00:00Z' });
    expect(engine.jobs.map(({ at }) => at)).toEqual([engine.now]);
    engine.run();
    expect(positions(late)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('are an incident when the text is not a time', () => {
    const engine = engineOf(waiting(timer('${at}')));
    expectFailure(() => engine.start('test', { at: 'soon' }), { type: 'DEFINITION', node: 1 });
    expectFailure(() => engine.start('test', { at: 'P999999999Y' }), { type: 'DEFINITION', node: 1 });
  });

  it('of an ended visit are stale', () => {
    const engine = engineOf(waiting(timer('PT1S')));
    const instance = engine.start('test');
    const job = engine.jobs[0]!.job as { tokenId: number; visit: number; node: number };
    engine.advance(SECOND);
    expectFailure(() => engine.step(instance, { ...job, kind: 'TIMER' }), { code: 'STALE' });
  });
});

describe('cycles', () => {
  it('are counted from their anchor, so that late occurrences shift nothing', () => {
    const anchor = Date.UTC(2026, 0, 31);
    const monthly = parseCycle('R3/P1M')!;
    const at = (occurrence: number) => {
      const due = cycleOccurrence(monthly, anchor, occurrence);
      return due === undefined ? undefined : new Date(due).toISOString().slice(0, 10);
    };
    expect([at(1), at(2), at(3), at(4)]).toEqual(['2026-02-28', '2026-03-31', '2026-04-30', undefined]);
    expect(cycleOccurrence(parseCycle('R/PT0.1S')!, anchor, 1_000)).toBe(anchor + 100 * SECOND);
    expect(cycleOccurrence(parseCycle('R/P999999999Y')!, anchor, 5)).toBeUndefined();
  });
});

describe('message events', () => {
  it('take the message with their name and correlation and merge its payload', () => {
    const engine = engineOf(
      new TestGraph().start().event('wait', message('paid', 'order')).user('u').flow('start -> wait -> u'),
    );
    const first = engine.start('test', { order: 1, old: true });
    const second = engine.start('test', { order: 2 });
    expect(positions(first)).toEqual(['wait ACTIVE WAITING_MESSAGE_EVENT']);
    engine.publish('paid', { amount: 5 }, '2');
    expect(positions(first)).toEqual(['wait ACTIVE WAITING_MESSAGE_EVENT']);
    expect(second.state.data).toEqual({ order: 2, amount: 5 });
    expect(leftWith(second, 'wait')).toEqual({ status: 'MESSAGE_RECEIVED' });
    expect(engine.waits).toHaveLength(1);
  });

  it('are thrown by events, send tasks and end events', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .node('throw', 'INTERMEDIATE_THROW_EVENT', { event: message('a') })
        .node('send', 'SEND_TASK', { event: message('b', 'key') })
        .end('end', message('c'))
        .flow('start -> throw -> send -> end'),
    );
    engine.start('test', { key: 'k\ud800' });
    expect(engine.jobs.map(({ job }) => job)).toEqual([
      { kind: 'PUBLISH_MESSAGE', message: 'a', correlation: null, payload: {} },
      { kind: 'PUBLISH_MESSAGE', message: 'b', correlation: 'k\ufffd', payload: {} },
      { kind: 'PUBLISH_MESSAGE', message: 'c', correlation: null, payload: {} },
    ]);
  });

  it('are an incident when the correlation fails', () => {
    const engine = engineOf(
      new TestGraph().start().event('wait', message('m', 'gone.id')).end().flow('start -> wait -> end'),
    );
    expectFailure(() => engine.start('test'), { type: 'CONDITION_EVALUATION', node: 1 });
  });
});

const receiving = (timeout: string | null = null) =>
  new TestGraph()
    .start()
    .node('r', 'RECEIVE_TASK', { event: message('m'), timeout })
    .user('u')
    .flow('start -> r -> u');

describe('receive tasks', () => {
  it('wait for their message', () => {
    const engine = engineOf(receiving());
    const instance = engine.start('test');
    expect(positions(instance)).toEqual(['r ACTIVE WAITING_MESSAGE']);
    engine.publish('m', { x: 1 });
    expect(leftWith(instance, 'r')).toEqual({ status: 'MESSAGE_RECEIVED' });
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
    expect(instance.state.data).toEqual({ x: 1 });
  });

  it('continue after their timeout and no longer wait for the message', () => {
    const engine = engineOf(receiving('PT3S'));
    const instance = engine.start('test');
    engine.advance(3 * SECOND);
    expect(leftWith(instance, 'r')).toEqual({ status: 'MESSAGE_RESPONSE_TIMED_OUT' });
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
    expect(engine.waits).toEqual([]);
  });

  it('cancel the timeout when the message arrives', () => {
    const engine = engineOf(receiving('PT3S'));
    engine.start('test');
    engine.publish('m');
    expect(engine.jobs).toEqual([]);
  });

  it('keep the message while an action is outstanding', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .node('r', 'RECEIVE_TASK', { event: message('m'), actions: [workflow('w')] })
        .user('u')
        .flow('start -> r -> u'),
    );
    engine.workflows.set('w', () => ({ afterMs: 5 * SECOND }));
    const instance = engine.start('test');
    engine.run();
    engine.publish('m');
    expect(positions(instance)).toEqual(['r ACTIVE MESSAGE_RECEIVED']);
    engine.advance(5 * SECOND);
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });
});

const choosing = () =>
  new TestGraph()
    .start()
    .node('g', 'EVENT_BASED_GATEWAY')
    .event('t', timer('PT10S'))
    .event('m', message('m'))
    .node('r', 'RECEIVE_TASK', { event: message('r'), actions: [save('s', { got: '${x}' })] })
    .user('a')
    .user('b')
    .user('c')
    .flow('start -> g -> t -> a', 'g -> m -> b', 'g -> r -> c');

describe('event-based gateway', () => {
  it('takes the timer when no message arrived, and cancels the messages', () => {
    const engine = engineOf(choosing());
    const instance = engine.start('test');
    expect(positions(instance)).toEqual(['g ACTIVE WAITING_MESSAGE_EVENT']);
    engine.advance(10 * SECOND);
    expect(trace(instance)).toEqual(['start', 'g', 't', 'a']);
    expect(engine.waits).toEqual([]);
  });

  it('takes the first message, and cancels the timer', () => {
    const engine = engineOf(choosing());
    const instance = engine.start('test');
    engine.publish('m', { x: 1 });
    expect(trace(instance)).toEqual(['start', 'g', 'm', 'b']);
    expect(engine.jobs).toEqual([]);
    engine.publish('r');
    expect(positions(instance)).toEqual(['b ACTIVE ARRIVED']);
  });

  it('passes a receive task whose message has arrived', () => {
    const engine = engineOf(choosing());
    const instance = engine.start('test');
    engine.publish('r', { x: 1 });
    expect(trace(instance)).toEqual(['start', 'g', 'r', 'c']);
    expect(instance.state.data).toEqual({ x: 1, got: 1 });
    expect(engine.waits).toEqual([]);
  });
});

describe('a receive task after an event-based gateway', () => {
  it('that has its message waits for neither the message nor the timeout again', () => {
    const actions = [workflow('w')];
    const engine = engineOf(
      new TestGraph()
        .start()
        .node('g', 'EVENT_BASED_GATEWAY')
        .node('r', 'RECEIVE_TASK', { event: message('r'), timeout: 'PT3S', actions })
        .boundary('stop', 'r', message('stop'))
        .user('u')
        .flow('start -> g -> r -> u', 'stop -> u'),
    );
    engine.workflows.set('w', () => ({ afterMs: 5 * SECOND }));
    const instance = engine.start('test');
    engine.publish('r');
    expect(engine.waits.map(({ message: name }) => name)).toEqual(['stop']);
    expect(engine.jobs.map(({ job }) => job.kind)).toEqual(['ANSWER']);
    engine.advance(5 * SECOND);
    expect(leftWith(instance, 'r')).toEqual({ status: 'MESSAGE_RECEIVED' });
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });
});

const bounded = (interrupting: boolean) =>
  new TestGraph()
    .start()
    .user('t')
    .user('next')
    .user('late')
    .end()
    .boundary('b', 't', timer('PT10S'), { interrupting })
    .flow('start -> t -> next -> end', 'b -> late -> end');

const graphWith = (first: string | null, second: string | null) =>
  new TestGraph()
    .start()
    .task('t', [workflow('w')])
    .user('one')
    .user('two')
    .boundary('b1', 't', { type: 'ERROR', code: null }, { condition: first })
    .boundary('b2', 't', { type: 'ERROR', code: 'E' }, { condition: second })
    .flow('start -> t', 'b1 -> one', 'b2 -> two');

const outcome = (
  first: string | null,
  error: string | WorkflowAnswer,
  second: string | null = null,
): string | undefined => {
  const engine = engineOf(graphWith(first, second));
  engine.workflows.set('w', () => (typeof error === 'string' ? { thrown: error } : error));
  const instance = engine.start('test', { yes: true });
  engine.run();
  const { state } = instance.state;
  if (state === 'FAILED') {
    return state;
  }
  return engine.incidents.length > 0 ? 'incident' : trace(instance, 'USER_TASK')[0];
};

const branching = () =>
  new TestGraph()
    .start()
    .user('t')
    .user('a')
    .user('b')
    .boundary('time', 't', timer('PT1S'))
    .boundary('stop', 't', message('stop'))
    .user('late')
    .flow('start -> t -> a', 't -> b', 'time -> late', 'stop -> late');

describe('boundary events', () => {
  it('that do not interrupt start another token, once', () => {
    const engine = engineOf(bounded(false));
    const instance = engine.start('test');
    engine.advance(60 * SECOND);
    expect(positions(instance)).toEqual(['late ACTIVE ARRIVED', 't ACTIVE ARRIVED']);
    engine.act(instance, 't.done');
    engine.act(instance, 'next.done');
    expect(instance.state.state).toBe('STARTED');
    engine.act(instance, 'late.done');
    expect(instance.state.state).toBe('FINISHED');
  });

  it('are cancelled when the token leaves', () => {
    const engine = engineOf(bounded(true));
    const instance = engine.start('test');
    expect(engine.act(instance, 't.done').cancelledTokens).toEqual([...instance.state.tokens.keys()]);
    expect(engine.jobs).toEqual([]);
    expect(engine.act(instance, 'next.done').cancelledTokens).toEqual([]);
  });

  it('may be several, and messages that do not interrupt may come again', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('t')
        .user('asked')
        .user('late')
        .user('stopped')
        .boundary('ask', 't', message('ask'), { interrupting: false })
        .boundary('time', 't', timer('PT10S'), { interrupting: false })
        .boundary('stop', 't', message('stop'))
        .flow('start -> t', 'ask -> asked', 'time -> late', 'stop -> stopped'),
    );
    const instance = engine.start('test');
    engine.publish('ask');
    engine.publish('ask');
    expect(positions(instance)).toEqual(['asked ACTIVE ARRIVED', 'asked ACTIVE ARRIVED', 't ACTIVE ARRIVED']);
    engine.publish('stop');
    expect(positions(instance)).toEqual([
      'asked ACTIVE ARRIVED',
      'asked ACTIVE ARRIVED',
      'stopped ACTIVE ARRIVED',
    ]);
    expect(engine.waits).toEqual([]);
    expect(engine.jobs).toEqual([]);
  });

  it('at a branch of a split are awaited by its parent', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('a')
        .user('b')
        .user('late')
        .end()
        .boundary('time', 'a', timer('PT1S'), { interrupting: false })
        .flow('start -> fork -> a -> end', 'fork -> b -> end', 'time -> late -> end'),
    );
    const instance = engine.start('test');
    engine.advance(SECOND);
    engine.act(instance, 'a.done');
    engine.act(instance, 'b.done');
    expect(positions(instance)).toEqual(['fork ON_HOLD EXECUTED_COMPLETE', 'late ACTIVE ARRIVED']);
    engine.act(instance, 'late.done');
    expect(instance.state.state).toBe('FINISHED');
  });

  it('that name an error take precedence over one that catches every error, in any order', () => {
    expect(outcome(null, 'E')).toBe('two');
    expect(outcome(null, 'F')).toBe('one');
  });

  it('take a technical failure by its name only', () => {
    expect(outcome(null, { errorCode: 'E' })).toBe('two');
    expect(outcome(null, { errorCode: 'F' })).toBe('incident');
    expect(outcome(null, { errorCode: null })).toBe('incident');
  });

  it('on an error apply only if their condition holds', () => {
    expect(outcome(null, 'E', '!yes')).toBe('one');
    expect(outcome('!yes', 'E')).toBe('two');
    expect(outcome('!yes', 'E', '!yes')).toBe('FAILED');
    expect(outcome('!yes', 'F')).toBe('FAILED');
    expect(outcome('yes', 'F')).toBe('one');
    expect(outcome('gone', 'F')).toBe('incident');
    expect(outcome(null, 'E', 'gone')).toBe('incident');
  });

  it('do not let a token on hold fire', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .user('t', [manual('done')])
        .boundary('b', 't', timer('PT1S'))
        .user('x')
        .flow('start -> t', 'b -> x'),
    );
    const instance = engine.start('test');
    engine.step(instance, { kind: 'HOLD' });
    engine.advance(5 * SECOND);
    expect(positions(instance)).toEqual(['t ACTIVE ARRIVED']);
    expect(engine.jobs).toHaveLength(1);
    engine.step(instance, { kind: 'RELEASE' });
    engine.advance(2 * SECOND);
    expect(positions(instance)).toEqual(['x ACTIVE ARRIVED']);
  });

  it('end when the token has left over several flows and is held, or is moving', () => {
    const engine = engineOf(branching());
    const instance = engine.start('test');
    engine.act(instance, 't.done');
    expect([engine.jobs, engine.waits]).toEqual([[], []]);
    expect(positions(instance)).toEqual([
      'a ACTIVE ARRIVED',
      'b ACTIVE ARRIVED',
      't ON_HOLD EXECUTED_COMPLETE',
    ]);

    const slow = engineOf(branching());
    const other = slow.start('test');
    slow.limits = { ...LIMITS, nodesPerStep: 0 };
    slow.act(other, 't.done');
    expect(slow.jobs.map(({ job }) => job.kind)).toEqual(['CONTINUE']);
    expect(slow.waits).toEqual([]);
  });
});
