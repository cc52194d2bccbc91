import { describe, expect, it } from 'vitest';
import { permissionsFrom, type PermissionRule } from './claims-to-permissions.js';

const granted = (claims: unknown, ...rules: PermissionRule[]): boolean =>
  permissionsFrom(claims as Record<string, unknown>, { p: rules }).has('p');

describe('permissionsFrom', () => {
  it('grants by any rule, and nothing without one', () => {
    const rules = [
      { claim: 'scope', has: 'x' },
      { claim: 'groups', has: 'y' },
    ];
    expect(granted({ groups: ['y'] }, ...rules)).toBe(true);
    expect(granted({ groups: ['x'] }, ...rules)).toBe(false);
    expect(granted({ scope: 'x' })).toBe(false);
  });

  it('grants each permission by its own rules', () => {
    const rules = { a: [{ claim: 'scope', has: 'a' }], b: [{ claim: 'scope', has: 'b' }], c: [] };
    expect([...permissionsFrom({ scope: 'b z' }, rules)]).toEqual(['b']);
  });

  it('takes a name with dots as one name and a list as a path', () => {
    expect(granted({ 'a.b': ['x'] }, { claim: 'a.b', has: 'x' })).toBe(true);
    expect(granted({ a: { b: ['x'] } }, { claim: 'a.b', has: 'x' })).toBe(false);
    expect(granted({ a: { b: ['x'] } }, { claim: ['a', 'b'], has: 'x' })).toBe(true);
  });

  it.each([['__proto__'], ['constructor'], ['toString']])('finds nothing inherited under %s', (claim) => {
    expect(granted({}, { claim: [claim, 'name'], has: 'Object' })).toBe(false);
    expect(granted(JSON.parse(`{"${claim}":["x"]}`), { claim, has: 'x' })).toBe(true);
  });

  it.each([[7], [true], [null], [{ x: true }], [[['x']]], [' '], ['x,y'], ['xx']])(
    'grants nothing for %j',
    (value) => {
      expect(granted({ scope: value }, { claim: 'scope', has: 'x' })).toBe(false);
    },
  );
});
