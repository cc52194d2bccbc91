import { describe, expect, it } from 'vitest';
import type { PermissionRule } from '../config/permission-rules.js';
import { permissionsFrom } from './claims-to-permissions.js';

const granted = (claims: unknown, ...rules: PermissionRule[]): boolean =>
  permissionsFrom(claims as Record<string, unknown>, { p: rules }).has('p');

describe('permissionsFrom', () => {
  it('grants when any rule matches, and nothing without rules', () => {
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
    expect([...permissionsFrom({ scope: 'b z' }, rules).keys()]).toEqual(['b']);
  });

  it('reads a name with dots as one name and a list as a path', () => {
    expect(granted({ 'a.b': ['x'] }, { claim: 'a.b', has: 'x' })).toBe(true);
    expect(granted({ a: { b: ['x'] } }, { claim: 'a.b', has: 'x' })).toBe(false);
    expect(granted({ a: { b: ['x'] } }, { claim: ['a', 'b'], has: 'x' })).toBe(true);
  });

  it.each([['__proto__'], ['constructor'], ['toString']])('ignores inherited members: %s', (claim) => {
    expect(granted({}, { claim: [claim, 'name'], has: 'Object' })).toBe(false);
    expect(granted(JSON.parse(`{"${claim}":["x"]}`), { claim, has: 'x' })).toBe(true);
  });

  it.each([[7], [true], [null], [{ x: true }], [[['x']]], [' '], ['x,y'], ['xx']])(
    'grants nothing for %j',
    (value) => {
      expect(granted({ scope: value }, { claim: 'scope', has: 'x' })).toBe(false);
    },
  );

  const grantOf = (claims: unknown, ...rules: PermissionRule[]): unknown =>
    permissionsFrom(claims as Record<string, unknown>, { p: rules }).get('p');
  const some = (ids: string[], patterns: string[] = []) => ({ ids: new Set(ids), patterns });

  it('grants for all applications when a rule names none', () => {
    expect(grantOf({ scope: 'x' }, { claim: 'scope', has: 'x' })).toBe('all');
  });

  it('grants for the applications that match patterns', () => {
    const rule = { claim: 'roles', has: 'x', apps: ['loans', 'cards-*'] };
    expect(grantOf({ roles: ['x'] }, rule)).toEqual(some(['loans'], ['cards-*']));
    expect(grantOf({ roles: ['y'] }, rule)).toBeUndefined();
    expect(grantOf({ roles: ['x'] }, { ...rule, apps: ['loans', '*'] })).toBe('all');
  });

  it('grants for the applications that a claim lists, with and without a required value', () => {
    const rule = { claim: 'roles', has: 'x', appsIn: ['authz', 'apps'] };
    const claims = { roles: 'x', authz: { apps: ['loans', 'cards'] } };
    expect(grantOf(claims, rule)).toEqual(some(['loans', 'cards']));
    expect(grantOf({ ...claims, roles: 'y' }, rule)).toBeUndefined();
    expect(grantOf({ roles: 'x' }, rule)).toBeUndefined();
    expect(grantOf({ apps: 'loans cards' }, { appsIn: 'apps' })).toEqual(some(['loans', 'cards']));
    expect(grantOf({ apps: [] }, { appsIn: 'apps' })).toBeUndefined();
  });

  it('grants for the applications that follow a value and @', () => {
    const rule = { claim: 'roles', hasAt: 'manage' };
    const roles = ['manage@loans', 'manage@cards', 'manage', 'manage@', 'read@other', 'xmanage@other'];
    expect(grantOf({ roles }, rule)).toEqual(some(['loans', 'cards']));
    expect(grantOf({ roles: ['manage', 'manage@'] }, rule)).toBeUndefined();
  });

  it.each([['*'], ['loans-*'], ['../x'], [''], ['a'.repeat(65)], ["'"], [7], [['loans']], [null]])(
    'ignores the application %j in a claim: only operators may use patterns',
    (id) => {
      expect(grantOf({ apps: [id] }, { appsIn: 'apps' })).toBeUndefined();
      expect(grantOf({ roles: [`x@${String(id)}`, id] }, { claim: 'roles', hasAt: 'y' })).toBeUndefined();
    },
  );

  it('combines the grants of all rules', () => {
    const rules = [
      { claim: 'roles', has: 'x', apps: ['a-*'] },
      { claim: 'roles', hasAt: 'x' },
      { claim: 'scope', has: 'x' },
    ];
    expect(grantOf({ roles: ['x', 'x@b'] }, ...rules)).toEqual(some(['b'], ['a-*']));
    expect(grantOf({ roles: ['x', 'x@b'], scope: 'x' }, ...rules)).toBe('all');
  });
});
