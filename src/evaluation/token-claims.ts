import type { PermissionRule, PermissionRules } from '../platform/config/permission-rules.js';

type Tree = { [name: string]: Tree | string | string[] };

/** Returns the first rule that grants a permission for applications that the token need not name; undefined without one. */
export function grantingRule(
  rules: PermissionRules,
  permission: string,
): Extract<PermissionRule, { has: string }> | undefined {
  const known = (rules[permission] ?? []).filter((rule) => 'has' in rule && !('appsIn' in rule));
  return (known.find((rule) => !('apps' in rule)) ?? known[0]) as ReturnType<typeof grantingRule>;
}

/**
 * Returns claims that grant exactly the given permissions, by one rule each; the reverse of `permissionsFrom`.
 * @param permissions names with a `grantingRule`
 * @returns claims, a `scope` as one string (RFC 8693, section 4.2), everything else as lists
 */
export function claimsGranting(permissions: readonly string[], rules: PermissionRules): Tree {
  const claims: Tree = {};
  for (const permission of permissions) {
    const rule = grantingRule(rules, permission);
    if (rule !== undefined) {
      put(claims, typeof rule.claim === 'string' ? [rule.claim] : rule.claim, rule.has);
    }
  }
  return claims;
}

function put(claims: Tree, path: readonly string[], value: string): void {
  const last = path.at(-1) ?? '';
  let parent = claims;
  for (const name of path.slice(0, -1)) {
    parent = (parent[name] ??= {}) as Tree;
  }
  const present = parent[last] as string | string[] | undefined;
  if (path.length === 1 && last === 'scope') {
    parent[last] = present === undefined ? value : `${String(present)} ${value}`;
  } else {
    parent[last] = [...((present ?? []) as string[]), value];
  }
}

/** Returns names for users that exist only in evaluation mode: `jane.doe` and `jane.doe@example.com` become Jane Doe. */
export function sampleNames(subject: string): Record<string, string> {
  const words = (subject.split('@')[0] ?? '').split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const [first = subject, ...rest] = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return {
    given_name: first,
    family_name: rest.length > 0 ? rest.join(' ') : 'Evaluation',
    preferred_username: subject,
  };
}
