import type { PermissionRules } from '../common/auth/claims-to-permissions.js';

type Tree = { [name: string]: Tree | string | string[] };

/**
 * The reverse of `permissionsFrom`: claims that grant exactly what the first rule of each permission asks for.
 * @param permissions names with at least one rule
 * @returns claims, a `scope` as one string (RFC 8693, section 4.2), everything else as lists
 */
export function claimsGranting(permissions: readonly string[], rules: PermissionRules): Tree {
  const claims: Tree = {};
  for (const permission of permissions) {
    const rule = rules[permission]?.[0];
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
