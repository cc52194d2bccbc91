import { describe, expect, it } from 'vitest';
import { engineOf, TestGraph, workflow } from './graph-builder.js';
import { positions, trace } from '../support/memory-engine.js';

/** start -> s(inner -> a -> out) -> u -> end */
function nested(): TestGraph {
  return new TestGraph()
    .start()
    .sub('s')
    .user('u')
    .end()
    .start('inner', { in: 's' })
    .user('a', undefined, { in: 's' })
    .end('out', undefined, { in: 's' })
    .flow('start -> s -> u -> end', 'inner -> a -> out');
}

describe('embedded subprocess', () => {
  it('holds the token while others run inside, and releases it at the end', () => {
    const engine = engineOf(nested());
    const instance = engine.start('test');
    expect(positions(instance)).toEqual(['a ACTIVE ARRIVED', 's ON_HOLD EXECUTING']);
    const [outer, inner] = [...instance.state.tokens.values()];
    expect(inner).toMatchObject({ parentId: outer?.id, scopeTokenId: outer?.id });
    engine.act(instance, 'a.done', { x: 1 });
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
    expect([...instance.state.tokens.keys()]).toEqual([outer?.id]);
    expect(instance.state.data).toEqual({ x: 1 });
  });

  it('runs several times at once without mixing its tokens', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .xor('merge')
        .sub('s')
        .user('u')
        .start('inner', { in: 's' })
        .and('split', { in: 's' })
        .user('a', undefined, { in: 's' })
        .user('b', undefined, { in: 's' })
        .and('join', { in: 's' })
        .end('out', undefined, { in: 's' })
        .flow(
          'start -> fork -> merge -> s -> u',
          'fork -> merge',
          'inner -> split -> a -> join -> out',
          'split -> b -> join',
        ),
    );
    const instance = engine.start('test');
    const at = (key: string) =>
      [...instance.state.tokens.values()].filter(({ node }) => instance.definition.node(node).key === key);
    const [a1, a2] = at('a');
    const b2 = at('b').find(({ scopeTokenId }) => scopeTokenId === a2?.scopeTokenId);
    engine.act(instance, 'a.done', {}, a1?.id);
    engine.act(instance, 'b.done', {}, b2?.id);
    expect(trace(instance, 'USER_TASK')).not.toContain('u');
    engine.act(instance, 'a.done', {}, a2?.id);
    expect(at('u')).toHaveLength(1);
    engine.act(instance, 'b.done');
    expect(at('u')).toHaveLength(2);
  });

  it('starts at each of its start events', () => {
    const engine = engineOf(
      nested().start('other', { in: 's' }).user('b', undefined, { in: 's' }).flow('other -> b'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.done');
    expect(positions(instance)).toEqual(['b ACTIVE ARRIVED', 's ON_HOLD EXECUTING']);
    engine.act(instance, 'b.done');
    expect(positions(instance)).toEqual(['u ACTIVE ARRIVED']);
  });

  it('waits while a token is parked inside forever', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .sub('s')
        .start('inner', { in: 's' })
        .xor('x', { in: 's' })
        .and('join', { in: 's' })
        .flow('start -> s', 'inner -> x', 'x -> join ? true', 'x -> join ? false'),
    );
    const instance = engine.start('test');
    expect(instance.state.state).toBe('STARTED');
    expect(positions(instance)).toEqual(['join INACTIVE ARRIVED', 's ON_HOLD EXECUTING']);
  });

  it('ends all its tokens, and only those, with a terminate end event', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .and('fork')
        .user('bystander')
        .sub('s')
        .user('u')
        .start('inner', { in: 's' })
        .and('split', { in: 's' })
        .user('a', undefined, { in: 's' })
        .user('b', undefined, { in: 's' })
        .end('stop', { type: 'TERMINATE' }, { in: 's' })
        .flow('start -> fork -> s -> u', 'fork -> bystander', 'inner -> split -> a -> stop', 'split -> b'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.done');
    expect(positions(instance)).toEqual([
      'bystander ACTIVE ARRIVED',
      'fork ON_HOLD EXECUTED_COMPLETE',
      'u ACTIVE ARRIVED',
    ]);
    expect([...instance.tokens.values()].filter(({ state }) => state === 'TERMINATED')).toHaveLength(2);
  });

  it('is interrupted by a timer with everything in it', () => {
    const engine = engineOf(
      nested()
        .user('late')
        .boundary('time', 's', { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT1S' } })
        .flow('time -> late'),
    );
    const instance = engine.start('test');
    engine.advance(1_000);
    expect(positions(instance)).toEqual(['late ACTIVE ARRIVED']);
    expect([...instance.tokens.values()].map(({ state }) => state)).toEqual(['ACTIVE', 'DISMISSED']);
  });

  it('continues after a non-interrupting boundary event', () => {
    const engine = engineOf(
      nested()
        .user('late')
        .boundary(
          'time',
          's',
          { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT1S' } },
          { interrupting: false },
        )
        .flow('time -> late -> end'),
    );
    const instance = engine.start('test');
    engine.advance(1_000);
    expect(positions(instance)).toEqual(['a ACTIVE ARRIVED', 'late ACTIVE ARRIVED', 's ON_HOLD EXECUTING']);
    ['a', 'u', 'late'].forEach((key) => engine.act(instance, `${key}.done`));
    expect(instance.state.state).toBe('FINISHED');
  });
});

const failing = (code: string | null, handler: string | null) =>
  new TestGraph()
    .start()
    .sub('s')
    .user('fixed')
    .sub('deep', { in: 's' })
    .start('inner', { in: 's' })
    .start('core', { in: 'deep' })
    .and('split', { in: 'deep' })
    .user('other', undefined, { in: 'deep' })
    .user('a', undefined, { in: 'deep' })
    .end('broken', { type: 'ERROR', code }, { in: 'deep' })
    .boundary('caught', 's', { type: 'ERROR', code: handler })
    .flow('start -> s', 'inner -> deep', 'core -> split -> a -> broken', 'split -> other', 'caught -> fixed');

describe('error events', () => {
  it.each([
    ['E', 'E'],
    ['E', null],
    [null, null],
  ])('thrown with %s are caught by %s of a subprocess further out', (code, handler) => {
    const engine = engineOf(failing(code, handler));
    const instance = engine.start('test');
    engine.act(instance, 'a.done');
    expect(positions(instance)).toEqual(['fixed ACTIVE ARRIVED']);
  });

  it('that are not caught fail the instance', () => {
    const engine = engineOf(failing('E', 'F'));
    const instance = engine.start('test');
    engine.act(instance, 'a.done');
    expect(instance.state.state).toBe('FAILED');
    expect(instance.state.tokens.size).toBe(0);
  });

  it('are caught in the nearest subprocess', () => {
    const engine = engineOf(
      failing('E', null)
        .user('near', undefined, { in: 's' })
        .boundary('nearer', 'deep', { type: 'ERROR', code: 'E' })
        .flow('nearer -> near'),
    );
    const instance = engine.start('test');
    engine.act(instance, 'a.done');
    expect(positions(instance)).toEqual(['near ACTIVE ARRIVED', 's ON_HOLD EXECUTING']);
  });

  it('of a workflow propagate outwards too', () => {
    const engine = engineOf(
      new TestGraph()
        .start()
        .sub('s')
        .user('fixed')
        .start('inner', { in: 's' })
        .task('t', [workflow('w')], { in: 's' })
        .boundary('caught', 's', { type: 'ERROR', code: 'E' })
        .flow('start -> s', 'inner -> t', 'caught -> fixed'),
    );
    engine.workflows.set('w', () => ({ errorCode: 'E' }));
    const instance = engine.start('test');
    engine.run();
    expect(positions(instance)).toEqual(['fixed ACTIVE ARRIVED']);
  });
});
