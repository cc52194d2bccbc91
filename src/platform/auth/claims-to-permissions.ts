import type { PermissionRule, PermissionRules } from '../config/permission-rules.js';
import { combineGrants, type Grant } from '../user/grant.js';
import { isPathId } from '../validation/patterns.decorators.js';
import type { Claims } from './token-rules.js';

/**
 * Derives permissions from claims, each with the applications that it is granted for. Supports OAuth scope strings (RFC
 * 6749, section 3.3), Keycloak realm and client roles, Entra `scp` and `roles`, Okta `scp` and `groups`, and Auth0
 * `permissions`. A permission that no rule grants is denied.
 * @param namesIn claim that lists permissions by name
 */
export function permissionsFrom(
  claims: Claims,
  rules: PermissionRules,
  namesIn?: string,
): ReadonlyMap<string, Grant> {
  const named = namesIn === undefined ? [] : textsAt(claims, namesIn);
  const granted = Object.entries(rules).flatMap(([permission, alternatives]) => {
    const grant = combineGrants(alternatives.flatMap((rule) => grantOf(claims, rule) ?? []));
    return grant === undefined ? [] : [[permission, grant] as const];
  });
  return new Map([...granted, ...named.map((name) => [name, 'all'] as const)]);
}

function grantOf(claims: Claims, rule: PermissionRule): Grant | undefined {
  if ('hasAt' in rule) {
    const prefix = `${rule.hasAt}@`;
    const named = textsAt(claims, rule.claim).filter((text) => text.startsWith(prefix));
    return listed(named.map((text) => text.slice(prefix.length)));
  }
  if ('claim' in rule && !textsAt(claims, rule.claim).includes(rule.has)) {
    return undefined;
  }
  if ('appsIn' in rule) {
    return listed(textsAt(claims, rule.appsIn));
  }
  return 'apps' in rule ? matching(rule.apps) : 'all';
}

/** Claims name applications literally: only operators may use patterns. */
function listed(texts: readonly string[]): Grant {
  return { ids: new Set(texts.filter(isPathId)), patterns: [] };
}

function matching(patterns: readonly string[]): Grant {
  if (patterns.some((pattern) => /^\*+$/.test(pattern))) {
    return 'all';
  }
  return {
    ids: new Set(patterns.filter((pattern) => !pattern.includes('*'))),
    patterns: patterns.filter((pattern) => pattern.includes('*')),
  };
}

function textsAt(claims: Claims, claim: string | readonly string[]): readonly string[] {
  const value = valueAt(claims, typeof claim === 'string' ? [claim] : claim);
  if (typeof value === 'string') {
    return value.split(' ');
  }
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function valueAt(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    // Own members only: a claim named `__proto__` or `constructor` must find nothing inherited.
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) {
      return undefined;
    }
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
