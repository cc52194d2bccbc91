import { describe, expect, it } from 'vitest';
import { stateOf, type HostState } from './host-probe.js';
import { chosenWriter, type SeenHost } from './writer-watch.js';

const WRITER: HostState = { kind: 'WRITER', primary: null };
const CLOSED: HostState = { kind: 'CLOSED', primary: null };
const SILENT: HostState = { kind: 'SILENT' };
const AWAY: HostState = { kind: 'AWAY' };
const host = (state: HostState | undefined, since = 0): SeenHost => ({ state, since });
const primary = (me: string): HostState => ({ kind: 'WRITER', primary: me });
const member = (of: string): HostState => ({ kind: 'CLOSED', primary: of });

describe('chosenWriter', () => {
  it('takes the only one that takes writes, when all were looked at', () => {
    const [a, b] = [host(CLOSED), host(WRITER)];
    expect(chosenWriter([a, b], undefined)).toBe(b);
    expect(chosenWriter([host(undefined), b], undefined)).toBeUndefined();
    expect(chosenWriter([host(AWAY), b], undefined)).toBe(b);
  });

  it('takes none of two that take writes, but keeps the one that it had', () => {
    const [a, b] = [host(WRITER, 1), host(WRITER, 2)];
    expect(chosenWriter([a, b], undefined)).toBeUndefined();
    expect(chosenWriter([a, b], a)).toBe(a);
  });

  it.each<[string, HostState]>([
    ['is silent', SILENT],
    ['is away', AWAY],
    ['takes none', CLOSED],
  ])('leaves the former one that %s for the only other one', (_name, state) => {
    const [a, b] = [host(state), host(WRITER)];
    expect(chosenWriter([a, b], a)).toBe(b);
  });

  it('keeps a silent one while no other takes writes, and no one that says that it takes none', () => {
    const silent = host(SILENT);
    expect(chosenWriter([silent, host(CLOSED)], silent)).toBe(silent);
    const closed = host(CLOSED);
    expect(chosenWriter([closed, host(CLOSED)], closed)).toBeUndefined();
  });

  it('takes the primary that most members of a group name, whatever one that was stopped says of itself', () => {
    const [old, next, third] = [host(primary('a'), 3), host(primary('b'), 2), host(member('b'))];
    expect(chosenWriter([old, next, third], next)).toBe(next);
    expect(chosenWriter([old, next, third], old)).toBe(next);
  });

  it('takes the later one of two that as many members name', () => {
    const [old, next] = [host(primary('a'), 1), host(primary('b'), 2)];
    expect(chosenWriter([old, next], old)).toBe(next);
  });
});

describe('stateOf', () => {
  const row = (id: string, role: string, state = 'ONLINE', closed = 0) => ({
    closed,
    me: 'a',
    id,
    state,
    role,
  });

  it('believes a server by itself', () => {
    expect(stateOf([{ closed: 0 }])).toEqual(WRITER);
    expect(stateOf([{ closed: 1 }])).toEqual(CLOSED);
  });

  it('believes a member that is the primary of a majority', () => {
    const others = [row('b', 'SECONDARY'), row('c', 'SECONDARY', 'UNREACHABLE')];
    expect(stateOf([row('a', 'PRIMARY'), ...others])).toEqual(primary('a'));
  });

  it.each([
    ['has not opened yet', [row('a', 'PRIMARY', 'ONLINE', 1), row('b', 'SECONDARY')], 'a'],
    [
      'lost the majority',
      [row('a', 'PRIMARY'), row('b', 'SECONDARY', 'UNREACHABLE'), row('c', 'SECONDARY', 'UNREACHABLE')],
      'a',
    ],
    ['is a secondary', [row('a', 'SECONDARY'), row('b', 'PRIMARY')], 'b'],
    ['is in no group', [row('a', '', 'OFFLINE')], null],
    ['knows no members', [{ closed: 0, me: 'a', id: null }], null],
  ])('does not believe one that %s', (_name, rows, of) => {
    expect(stateOf(rows)).toEqual({ kind: 'CLOSED', primary: of });
  });
});
