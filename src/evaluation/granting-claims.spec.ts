import { describe, expect, it } from 'vitest';
import { permissionsFrom } from '../platform/auth/claims-to-permissions.js';
import type { PermissionRules } from '../platform/config/permission-rules.js';
import { claimsGranting } from './token-claims.js';

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
    'returns claims that grant exactly %j',
    (permissions: string[]) => {
      expect([...permissionsFrom(claimsGranting(permissions, RULES), RULES).keys()]).toEqual(permissions);
    },
  );

  it('uses the most general rule that requires no application in the token', () => {
    const rules: PermissionRules = {
      all: [
        { appsIn: 'apps' },
        { claim: 'scope', has: 'some', apps: ['x-*'] },
        { claim: 'scope', has: 'all' },
      ],
      some: [
        { claim: 'roles', hasAt: 'r' },
        { claim: 'scope', has: 'some', apps: ['x-*'] },
      ],
      none: [{ claim: 'roles', hasAt: 'r' }],
    };
    expect(claimsGranting(['all', 'some', 'none'], rules)).toEqual({ scope: 'all some' });
  });

  it('writes scopes as one string and everything else as lists', () => {
    expect(claimsGranting(['a', 'b', 'c'], RULES)).toEqual({
      scope: 'a:write b:write',
      realm_access: { roles: ['c'] },
    });
  });
});
