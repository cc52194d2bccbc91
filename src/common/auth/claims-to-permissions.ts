import type { Claims } from './token-rules.js';

/** Grants a permission when the claim holds the value. A path is a list, since claim names contain dots and URLs. */
export interface PermissionRule {
  readonly claim: string | readonly string[];
  readonly has: string;
}

/** Permission -> rules, any of which grants it (setting PERMISSION_RULES). */
export type PermissionRules = Readonly<Record<string, readonly PermissionRule[]>>;

/**
 * Reads permissions out of claims: OAuth scope strings (RFC 6749, section 3.3), Keycloak realm and client roles,
 * Entra `scp` and `roles`, Okta `scp` and `groups`, Auth0 `permissions`. What no rule grants is denied.
 * @param claims claims of a verified token
 */
export function permissionsFrom(claims: Claims, rules: PermissionRules): ReadonlySet<string> {
  return new Set(
    Object.entries(rules)
      .filter(([, alternatives]) => alternatives.some((rule) => grants(claims, rule)))
      .map(([permission]) => permission),
  );
}

function grants(claims: Claims, { claim, has }: PermissionRule): boolean {
  const value = valueAt(claims, typeof claim === 'string' ? [claim] : claim);
  if (typeof value === 'string') {
    return value.split(' ').includes(has);
  }
  return Array.isArray(value) && value.includes(has);
}

function valueAt(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    // hasOwn: a rule or claim named `__proto__` or `constructor` must find nothing.
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) {
      return undefined;
    }
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
