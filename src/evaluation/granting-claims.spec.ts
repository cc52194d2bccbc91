import { describe, expect, it } from 'vitest';
import { permissionsFrom, type PermissionRules } from '../common/auth/claims-to-permissions.js';
import { claimsGranting } from './granting-claims.js';

const RULES: PermissionRules = {
  a: [
    { claim: 'scope', has: 'a:write' },
    { claim: 'groups', has: 'other' },
  ],
  b: [{ claim: 'scope', has: 'b:write' }],
  c: [{ claim: ['realm_access', 'roles'], has: 'c' }],
  d: [{ claim: ['realm_access', 'roles'], has: 'd' }],
  e: [{ claim: 'https://example.com/groups', has: 'The E Team' }],
};

describe('claimsGranting', () => {
  it.each([[[]], [['a']], [['a', 'b']], [['c', 'd', 'e']], [['a', 'b', 'c', 'd', 'e']]])(
    'makes claims that grant exactly %j',
    (permissions: string[]) => {
      expect([...permissionsFrom(claimsGranting(permissions, RULES), RULES)]).toEqual(permissions);
    },
  );

  it('writes scopes as one string and everything else as lists', () => {
    expect(claimsGranting(['a', 'b', 'c'], RULES)).toEqual({
      scope: 'a:write b:write',
      realm_access: { roles: ['c'] },
    });
  });
});
